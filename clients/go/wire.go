package keelson

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"keelson/wire"
)

// Error is what ends a contributor, or refuses rows. Code is a code of the protocol, or one of
// invalid-options, invalid-rows, outbox-failed, server-key-mismatch, transport-failed, closed.
type Error struct{ Code, Text string }

func (e *Error) Error() string { return e.Code + ": " + e.Text }

func fault(code, text string, values ...any) *Error {
	return &Error{code, fmt.Sprintf(text, values...)}
}

// Inside the package errors are panics with an error. The exported functions and the loop of the
// connection catch them.
func require(holds bool, code, text string, values ...any) {
	if !holds {
		panic(fault(code, text, values...))
	}
}

func catch(work func()) (err error) {
	defer func() {
		if found := recover(); found != nil {
			if err = found.(error); errors.As(err, new(runtime.Error)) { // A defect of the program.
				panic(found)
			}
		}
	}()
	work()
	return nil
}

// The name of a code as the protocol writes it: stale-epoch for CODE_STALE_EPOCH.
func nameOf(code wire.Code) string {
	name := strings.TrimPrefix(code.String(), "CODE_")
	return strings.ToLower(strings.ReplaceAll(name, "_", "-"))
}

// The lengths of byte fields that a server sends.
var lengths = map[protoreflect.Name]int{"server_key": 32, "server_nonce": 32, "rotations": 192,
	"study_id": 32, "public_key": 32, "signature": 64, "share": 32}

// Takes only what section 1 of the protocol allows.
func decodeFrame(data []byte) *wire.ServerFrame {
	frame := &wire.ServerFrame{}
	err := proto.Unmarshal(data, frame)
	require(err == nil && frame.Kind != nil, "malformed", "a frame cannot be read: %v", err)
	check(frame.ProtoReflect())
	return frame
}

// Refuses what the library takes and the protocol does not.
func check(one protoreflect.Message) {
	isGood := len(one.GetUnknown()) == 0
	one.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		values := []protoreflect.Value{value}
		if field.IsList() {
			values = nil
			for i := 0; i < value.List().Len(); i++ {
				values = append(values, value.List().Get(i))
			}
		}
		for _, value := range values {
			switch length := lengths[field.Name()]; field.Kind() {
			case protoreflect.MessageKind:
				check(value.Message())
			case protoreflect.EnumKind:
				isGood = isGood && field.Enum().Values().ByNumber(value.Enum()) != nil
			case protoreflect.BytesKind:
				isGood = isGood && (length == 0 || len(value.Bytes()) == length)
			}
		}
		return isGood
	})
	require(isGood, "malformed", "%s has a wrong part", one.Descriptor().Name())
}

func encode(one proto.Message) []byte {
	data, err := proto.Marshal(one)
	orLost(err)
	return data
}
