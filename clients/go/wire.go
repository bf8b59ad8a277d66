package keelson

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error is what ends a contributor, or refuses rows. Code is a code of the protocol, or one of
// invalid-options, invalid-rows, outbox-failed, server-key-mismatch, closed.
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

// Codes of the wire, by number.
var codes = strings.Fields(`unspecified malformed unknown-study invalid-key key-not-allowed
bad-signature unknown-channel wrong-dimension not-finite too-many-rows contribution-full mutated
stale-epoch epoch-not-open study-ended budget-exhausted sequence-too-far credit-exceeded overloaded
rate-limited too-many-channels contributor-budget-exhausted shutting-down unsupported internal
quarantined not-enrolled enrolment-expired too-many-new-keys too-late wrong-type bad-text`)

// What a server sends, from proto/keelson/v1/wire.proto: the fields of each message, numbered from
// 1. After the name comes n for a number, perhaps with its largest value, b for bytes, perhaps with
// their length, t for text, or a message; a star makes a list. A contributor needs nothing of
// releases, heads and its own spending: they stay bytes.
var schema = map[string][]string{
	"Frame": {"welcome Welcome", "ready Ready", "ack Ack", "release Signed", "head Signed",
		"notice Notice", "refusal Refusal"},
	"Welcome": {"serverKey b32", "serverNonce b32", "limits Limits", "studies Study*",
		"rotations b192*"},
	"Limits": {"frameBytes n", "rowsPerBatch n", "credit n", "channels n", "sequenceWindow n"},
	"Study":  {"facts b", "signature b64", "state n3", "epoch n"},
	"Ready": {"channel n", "studyId b32", "publicKey b32", "signature b64", "epoch n",
		"nextSequence n", "holes n*", "credit n", "ownSpend b"},
	"Ack": {"channel n", "accepted n*", "rejections Rejection*", "epoch n", "credit n", "ownSpend b",
		"withdrawn n"},
	"Rejection": {"sequence n", "code n31", "retryable n", "text t"},
	"Notice":    {"studyId b32", "state n3", "epoch n", "closesInMs n"},
	"Refusal":   {"code n31", "retryable n", "text t", "channel n", "studyId b", "publicKey b"},
	"Signed":    {"body b", "signature b64"},
}

// A decoded message: a uint64, a []byte or a message for each field that came, or a list of them.
type message map[string]any

func (m message) number(name string) uint64 { value, _ := m[name].(uint64); return value }
func (m message) bytes(name string) []byte  { value, _ := m[name].([]byte); return value }
func (m message) part(name string) message  { value, _ := m[name].(message); return value }
func (m message) list(name string) []any    { value, _ := m[name].([]any); return value }
func (m message) code() string              { return codes[m.number("code")] }
func (m message) isRetryable() bool         { return m.number("retryable") != 0 }

func (m message) keep(name, kind string, value any) {
	number, _ := value.(uint64)
	data, isBytes := value.([]byte)
	bound, err := strconv.ParseUint(strings.Trim(kind, "bn*"), 10, 64)
	isGood := err != nil || !isBytes && number <= bound || isBytes && uint64(len(data)) == bound
	isGood = isGood && (kind != "t" || utf8.Valid(data))
	require(isGood, "malformed", "%s has a wrong length or value", name)
	if strings.HasSuffix(kind, "*") {
		value = append(m.list(name), value)
	}
	m[name] = value
}

// The kind of a frame, and what is in it. It takes only what section 1 of the protocol allows.
func decodeFrame(data []byte) (string, message) {
	frame := message{}
	frame.read("Frame", data)
	require(len(frame) == 1, "malformed", "a frame has %d kinds, not one", len(frame))
	for kind := range frame {
		return kind, frame.part(kind)
	}
	return "", nil
}

func varint(data []byte) (uint64, []byte) {
	value, size := binary.Uvarint(data)
	require(size > 0, "malformed", "a number is cut short or too long")
	return value, data[size:]
}

func (m message) read(message string, data []byte) {
	for len(data) > 0 {
		tag, rest := varint(data)
		value, rest := varint(rest)
		fields := schema[message]
		isKnown := tag>>3 > 0 && tag>>3 <= uint64(len(fields))
		require(isKnown, "malformed", "%s has no field %d", message, tag>>3)
		name, kind, _ := strings.Cut(fields[tag>>3-1], " ")
		if data = rest; tag&7 == 0 && kind[0] == 'n' {
			m.keep(name, kind, value)
			continue
		}
		isWhole := tag&7 == 2 && (kind[0] != 'n' || kind == "n*") && value <= uint64(len(rest))
		require(isWhole, "malformed", "%s of %s has another type, or is cut short", name, message)
		data = rest[value:]
		m.take(name, kind, rest[:value])
	}
}

// Reads a field that has a length.
func (m message) take(name, kind string, part []byte) {
	if kind == "n*" {
		for value := uint64(0); len(part) > 0; {
			value, part = varint(part)
			m.keep(name, kind, value)
		}
	} else if kind[0] == 'b' || kind == "t" {
		m.keep(name, kind, part)
	} else {
		inner := m.part(name) // The parts of a message that comes twice merge.
		if inner == nil {
			inner = message{}
		}
		inner.read(strings.TrimSuffix(kind, "*"), part)
		m.keep(name, kind, inner)
	}
}

// Appends a number, unless it is 0.
func putNumber(out []byte, number int, value uint64) []byte {
	if value == 0 {
		return out
	}
	return binary.AppendUvarint(binary.AppendUvarint(out, uint64(number)<<3), value)
}

// Appends bytes or a message, unless it is empty.
func putBytes(out []byte, number int, data []byte) []byte {
	if len(data) == 0 {
		return out
	}
	out = binary.AppendUvarint(binary.AppendUvarint(out, uint64(number)<<3|2), uint64(len(data)))
	return append(out, data...)
}
