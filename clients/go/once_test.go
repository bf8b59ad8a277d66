package keelson

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"keelson/wire"
)

// A server of one study that answers each batch with the next of a script: an HTTP status, or a
// frame. It repeats the last one, and keeps what it was sent.
type onceServer struct {
	mutex  sync.Mutex
	seed   ed25519.PrivateKey
	facts  []byte
	epochs []uint64
	script []any
	sent   [][]byte
	url    string
}

// Makes a frame for the sequence of a batch.
type verdict func(sequence uint64) *wire.ServerFrame

func accepted(epoch uint64) verdict {
	return func(sequence uint64) *wire.ServerFrame {
		return &wire.ServerFrame{Kind: &wire.ServerFrame_Ack{
			Ack: &wire.Ack{Accepted: []uint64{sequence}, Epoch: epoch}}}
	}
}

func rejected(code wire.Code, epoch uint64, isRetryable bool) verdict {
	return func(sequence uint64) *wire.ServerFrame {
		one := &wire.Rejection{Sequence: sequence, Code: code, Retryable: isRetryable}
		return &wire.ServerFrame{Kind: &wire.ServerFrame_Ack{
			Ack: &wire.Ack{Rejections: []*wire.Rejection{one}, Epoch: epoch}}}
	}
}

func refused(code wire.Code) verdict {
	return func(uint64) *wire.ServerFrame {
		return &wire.ServerFrame{Kind: &wire.ServerFrame_Refusal{
			Refusal: &wire.Refusal{Code: code, Text: "a text"}}}
	}
}

func startOnce(t *testing.T, script ...any) *onceServer {
	var found struct{ Facts string }
	vectors(t, "frames.json", &found)
	s := &onceServer{seed: ed25519.NewKeyFromSeed(bytes.Repeat([]byte{3}, 32)),
		facts: []byte(found.Facts), epochs: []uint64{7}, script: script}
	server := httptest.NewServer(http.HandlerFunc(s.answer))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// With the mutex.
func (s *onceServer) welcome() []byte {
	key, id := s.seed.Public().(ed25519.PublicKey), sha256.Sum256(s.facts)
	epoch := s.epochs[0]
	if len(s.epochs) > 1 {
		s.epochs = s.epochs[1:]
	}
	study := &wire.SignedStudy{
		Facts: s.facts, State: wire.StudyState_STUDY_STATE_OPEN, Epoch: epoch,
		Signature: ed25519.Sign(s.seed, SignedMessage("study", key, id[:], nil, digest(s.facts)))}
	limits := &wire.Limits{FrameBytes: 4096, RowsPerBatch: 64, CreditBatches: 1, SequenceWindow: 64}
	return encode(&wire.ServerFrame{Kind: &wire.ServerFrame_Welcome{Welcome: &wire.Welcome{
		ServerKey: key, ServerNonce: make([]byte, 32), Limits: limits,
		Studies: []*wire.SignedStudy{study}}}})
}

func (s *onceServer) answer(response http.ResponseWriter, request *http.Request) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	body, _ := io.ReadAll(request.Body)
	if request.Method == http.MethodGet {
		text, _ := json.Marshal(map[string]string{
			"welcome": base64.StdEncoding.EncodeToString(s.welcome())})
		response.Write(text)
		return
	} else if request.URL.Path == "/v1/batches" {
		frame := s.welcome()
		response.Write(append(binary.AppendUvarint(nil, uint64(len(frame))), frame...))
		return
	}
	s.sent = append(s.sent, body)
	said := s.script[0]
	if len(s.script) > 1 {
		s.script = s.script[1:]
	}
	if status, isStatus := said.(int); isStatus {
		response.WriteHeader(status)
		response.Write([]byte(`{"error":{"code":"a-code","text":"said"}}`))
	} else {
		bodies := s.bodies()
		response.Write(encode(said.(verdict)(bodies[len(bodies)-1].Sequence)))
	}
}

func (s *onceServer) bodies() (bodies []*wire.BatchBody) {
	for _, data := range s.sent {
		once, body := &wire.Once{}, &wire.BatchBody{}
		orLost(proto.Unmarshal(data, once))
		orLost(proto.Unmarshal(once.Body, body))
		bodies = append(bodies, body)
	}
	return bodies
}

func onceOptions(t *testing.T, s *onceServer) Options {
	return Options{URL: s.url, Study: "flight-delays", Seed: make([]byte, 32), Once: true,
		Outbox: filepath.Join(t.TempDir(), "outbox"), Timeout: 20 * time.Second}
}

// The outcome of one row, and how the contributor ended.
func contributeOnce(t *testing.T, options Options) (string, error) {
	t.Helper()
	contributor, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	settled, err := contributor.Send([][]float64{{1.5, 2}}, true)
	if err != nil {
		return "", err
	}
	select {
	case code := <-settled:
		return code, contributor.Close()
	case <-time.After(30 * time.Second):
		t.Fatal("no verdict")
		return "", nil
	}
}

func expectSequences(t *testing.T, s *onceServer, wanted ...[2]uint64) {
	t.Helper()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var found [][2]uint64
	for _, body := range s.bodies() {
		found = append(found, [2]uint64{body.Sequence, body.Epoch})
	}
	text, _ := json.Marshal(found)
	if expected, _ := json.Marshal(wanted); !bytes.Equal(text, expected) {
		t.Errorf("sequences and epochs are %s, not %s", text, expected)
	}
}

func TestOnceVectors(t *testing.T) {
	var found struct {
		Once map[string]struct{ Bytes string }
	}
	var signed struct{ ServerKey, StudyID string }
	vectors(t, "frames.json", &found)
	vectors(t, "signatures.json", &signed)
	for name, one := range found.Once {
		data, once := unhex(t, one.Bytes), &wire.Once{}
		if err := proto.Unmarshal(data, once); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(encode(once), data) {
			t.Errorf("%s has other bytes", name)
		}
		message := SignedMessage(
			"batch", unhex(t, signed.ServerKey), once.StudyId, once.PublicKey, digest(once.Body))
		if !ed25519.Verify(once.PublicKey, message, once.Signature) {
			t.Errorf("%s is not signed by its contributor", name)
		}
	}
	if len(found.Once) < 2 {
		t.Error("there are no vectors of a contribution")
	}
}

func TestOnceSendsTheSameBytesUntilThereIsAVerdict(t *testing.T) {
	s := startOnce(t, 503, 429, rejected(wire.Code_CODE_OVERLOADED, 7, true), accepted(7))
	if code, err := contributeOnce(t, onceOptions(t, s)); code != "accepted" || err != nil {
		t.Errorf("%s, %v", code, err)
	}
	for i, data := range s.sent {
		if !bytes.Equal(data, s.sent[0]) {
			t.Errorf("request %d has other bytes", i)
		}
	}
	expectSequences(t, s, [2]uint64{1, 7}, [2]uint64{1, 7}, [2]uint64{1, 7}, [2]uint64{1, 7})
}

func TestOnceTakesTheNextSequenceInAStaleEpoch(t *testing.T) {
	stale := wire.Code_CODE_STALE_EPOCH
	s := startOnce(t, rejected(stale, 8, false), accepted(8), accepted(8))
	options := onceOptions(t, s)
	for i := 0; i < 2; i++ {
		if code, err := contributeOnce(t, options); code != "accepted" || err != nil {
			t.Errorf("%s, %v", code, err)
		}
	}
	// The outbox keeps the sequence for the next run.
	expectSequences(t, s, [2]uint64{1, 7}, [2]uint64{2, 8}, [2]uint64{3, 7})
}

func TestOnceAsksForTheEpochWhileNoneIsOpen(t *testing.T) {
	s := startOnce(t, rejected(wire.Code_CODE_STALE_EPOCH, 0, false),
		rejected(wire.Code_CODE_STALE_EPOCH, 9, false), accepted(9))
	s.epochs = []uint64{0, 0, 8, 0, 9}
	if code, err := contributeOnce(t, onceOptions(t, s)); code != "accepted" || err != nil {
		t.Errorf("%s, %v", code, err)
	}
	expectSequences(t, s, [2]uint64{1, 8}, [2]uint64{1, 8}, [2]uint64{2, 9})
}

func TestOnceRefusals(t *testing.T) {
	for wanted, said := range map[string]any{
		"not-enrolled": refused(wire.Code_CODE_NOT_ENROLLED), "unsupported": 404, "a-code": 413,
		"bad-signature": refused(wire.Code_CODE_BAD_SIGNATURE),
	} {
		s := startOnce(t, said)
		ended := make(chan error, 1)
		options := onceOptions(t, s)
		options.OnEnded = func(err error) { ended <- err }
		code, _ := contributeOnce(t, options)
		if found := new(Error); code != "" || !errors.As(<-ended, &found) || found.Code != wanted {
			t.Errorf("%q, %v instead of %s", code, found, wanted)
		}
		if len(s.sent) != 1 {
			t.Errorf("%s: %d requests", wanted, len(s.sent))
		}
	}
	s := startOnce(t, rejected(wire.Code_CODE_NOT_COUNTED, 7, false))
	if code, err := contributeOnce(t, onceOptions(t, s)); code != "not-counted" || err != nil {
		t.Errorf("%s, %v", code, err)
	}
}

func TestOnceSendsNothingToASealedStudyOrAnotherServer(t *testing.T) {
	for wanted, change := range map[string]func(*onceServer, *Options){
		"unsupported: the study is sealed": func(s *onceServer, _ *Options) {
			s.facts = bytes.Replace(s.facts, []byte("{"), []byte(`{"sealed":{},`), 1)
		},
		"server-key-mismatch": func(_ *onceServer, o *Options) {
			o.ServerKey = ed25519.NewKeyFromSeed(o.Seed).Public().(ed25519.PublicKey)
		},
	} {
		s := startOnce(t, accepted(7))
		options := onceOptions(t, s)
		change(s, &options)
		ended := make(chan error, 1)
		options.OnEnded = func(err error) { ended <- err }
		contributeOnce(t, options)
		if err := <-ended; !strings.HasPrefix(err.Error(), wanted) || len(s.sent) > 0 {
			t.Errorf("%v instead of %s, %d requests", err, wanted, len(s.sent))
		}
	}
}
