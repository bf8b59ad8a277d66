package keelson

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"keelson/wire"
)

func vectors(t *testing.T, name string, into any) {
	t.Helper()
	// The test of the project gives the place: this folder may be reached over a link.
	text, err := os.ReadFile(filepath.Join(os.Getenv("KEELSON_VECTORS"), name))
	if err != nil {
		t.Skip("set KEELSON_VECTORS to the folder test/vectors of the source")
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

func unhex(t *testing.T, text string) []byte {
	t.Helper()
	data, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestSignatures(t *testing.T) {
	var found struct {
		ServerKey, ContributorSeed, StudyID string
		Signed                              []struct{ Label, Signer, Payload, Message, Signature string }
	}
	vectors(t, "signatures.json", &found)
	signer := ed25519.NewKeyFromSeed(unhex(t, found.ContributorSeed))
	key := signer.Public().(ed25519.PublicKey)
	count := 0
	for _, one := range found.Signed {
		if one.Signer == "contributor" {
			count++
			message := SignedMessage(
				one.Label, unhex(t, found.ServerKey), unhex(t, found.StudyID), key, unhex(t, one.Payload))
			signature := ed25519.Sign(signer, message)
			if hex.EncodeToString(message) != one.Message || hex.EncodeToString(signature) != one.Signature {
				t.Errorf("the signature of %s is another one", one.Label)
			}
		}
	}
	if count < 3 {
		t.Errorf("only %d vectors", count)
	}
}

func TestRefusedKeys(t *testing.T) {
	var found struct{ SmallOrder, NotReduced []string }
	vectors(t, "refused-keys.json", &found)
	for _, text := range append(found.SmallOrder, found.NotReduced...) {
		if catch(func() { checkKey(unhex(t, text)) }) == nil {
			t.Errorf("%s was taken", text)
		}
	}
	good := ed25519.NewKeyFromSeed(make([]byte, 32)).Public().(ed25519.PublicKey)
	if err := catch(func() { checkKey(good) }); err != nil {
		t.Error(err)
	}
}

func TestFrames(t *testing.T) {
	var found struct {
		ServerFrames map[string]struct{ Bytes string }
	}
	vectors(t, "frames.json", &found)
	for name, one := range found.ServerFrames {
		data := unhex(t, one.Bytes)
		if err := catch(func() { decodeFrame(data) }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for end := 0; end < len(data); end++ {
			if catch(func() { decodeFrame(data[:end]) }) == nil {
				t.Errorf("%s was taken without its end, of %d bytes", name, end)
			}
		}
		if catch(func() { decodeFrame(append(data, 0x78, 0x01)) }) == nil {
			t.Errorf("%s was taken with an unknown field", name)
		}
	}
}

func TestAckOfVectors(t *testing.T) {
	var found struct {
		ServerFrames map[string]struct{ Bytes string }
	}
	vectors(t, "frames.json", &found)
	ack := decodeFrame(unhex(t, found.ServerFrames["ack"].Bytes)).GetAck()
	one := ack.Rejections[0]
	isWhole := len(ack.Accepted) == 2 && ack.Accepted[1] == 1<<53+1 && ack.Credit == 63
	isRefused := one.Sequence == math.MaxUint64 && nameOf(one.Code) == "stale-epoch"
	if !isWhole || !isRefused || one.Retryable {
		t.Errorf("%v", ack)
	}
}

func options(path string) Options {
	// Nobody listens there.
	return Options{URL: "ws://127.0.0.1:1", Study: "s", Seed: make([]byte, 32), Outbox: path}
}

// Whatever becomes of rows, none of the files holds them afterwards, in clear or signed.
func TestOutboxKeepsNoSettledRow(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "outbox")
	c, err := Open(options(path))
	if err != nil {
		t.Fatal(err)
	}
	defer c.guarded(func() { c.end(fault("closed", "the test is over")) })
	held := func() (found bool) {
		names, _ := filepath.Glob(filepath.Join(folder, "*"))
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			found = found || bytes.Contains(text, []byte("1234.5")) || bytes.Contains(text, []byte("Body"))
		}
		return found
	}
	sign := func() {
		c.limits, c.columns = &wire.Limits{FrameBytes: 1 << 20, RowsPerBatch: 9}, 1
		c.next, c.outbox.StudyID = 1, make([]byte, 32)
		c.split(c.outbox.Items[0])
	}
	refused := &wire.Rejection{Sequence: 1, Code: wire.Code_CODE_CONTRIBUTION_FULL}
	for name, settle := range map[string]func(){
		"accepted": func() { sign(); c.acknowledged(&wire.Ack{Accepted: []uint64{1}}) },
		"refused":  func() { sign(); c.acknowledged(&wire.Ack{Rejections: []*wire.Rejection{refused}}) },
		"stopped":  func() { catch(func() { c.stop(wire.StudyState_STUDY_STATE_EXHAUSTED) }) },
		"unusable": func() { c.limits, c.columns = &wire.Limits{}, 2; c.split(c.outbox.Items[0]) },
	} {
		if _, err := c.Send([][]float64{{1234.5}}, true); err != nil {
			t.Fatal(err)
		}
		if !held() {
			t.Errorf("%s: the rows are not in the outbox", name)
		}
		if c.guarded(settle); held() {
			t.Errorf("%s: the rows are still there", name)
		}
	}
}

func TestOutboxOutlivesItsContributor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "outbox")
	first, err := Open(options(path))
	if err != nil {
		t.Fatal(err)
	}
	values := []float64{math.Copysign(0, -1), 5e-324, 1.0 / 3, -1.8446744073709550e19}
	if _, err := first.Send([][]float64{values}, true); err != nil {
		t.Fatal(err)
	}
	_, err = Open(options(path))
	if err == nil || !strings.Contains(err.Error(), "another contributor") {
		t.Errorf("a second contributor has opened the outbox: %v", err)
	}
	before, _ := os.ReadFile(path)
	// A kill in the middle of a save leaves such a file behind.
	os.WriteFile(path+".new", before[:len(before)/2], 0o600)
	first.guarded(func() { first.end(fault("closed", "as by a kill")) })
	second, err := Open(options(path))
	if err != nil {
		t.Fatal(err)
	}
	defer second.guarded(func() { second.end(fault("closed", "the test is over")) })
	rows := second.outbox.Items[0].Rows
	for i, value := range values {
		if math.Float64bits(rows[0][i]) != math.Float64bits(value) {
			t.Errorf("%g became %g", value, rows[0][i])
		}
	}
	if !second.outbox.Items[0].Last {
		t.Error("last was lost")
	}
}

func TestRowsAndOptionsThatAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "outbox")
	contributor, err := Open(options(path))
	if err != nil {
		t.Fatal(err)
	}
	defer contributor.guarded(func() { contributor.end(fault("closed", "the test is over")) })
	for _, rows := range [][][]float64{
		{}, {{}}, {{1}, {1, 2}}, {{math.NaN()}}, {{math.Inf(1)}}, {{1}, {-1e20}},
	} {
		if _, err := contributor.Send(rows, false); err == nil {
			t.Errorf("%v was taken", rows)
		}
	}
	if len(contributor.outbox.Items) > 0 {
		t.Error("refused rows are in the outbox")
	}
	for _, change := range []func(*Options){
		func(o *Options) { o.URL = "127.0.0.1:8787" }, func(o *Options) { o.URL = "localhost:8787" },
		func(o *Options) { o.URL = "example.org" }, func(o *Options) { o.URL = "ws://" },
		func(o *Options) { o.URL = "ftp://127.0.0.1" }, func(o *Options) { o.URL = "ws://127.0.0.1:0" },
		func(o *Options) { o.URL = "ws://127.0.0.1#x" }, func(o *Options) { o.Seed = nil },
		func(o *Options) { o.Outbox = filepath.Join(path, "no-folder") },
	} {
		wrong := options(filepath.Join(t.TempDir(), "other"))
		change(&wrong)
		if _, err := Open(wrong); !errors.As(err, new(*Error)) {
			t.Errorf("%v was taken, or refused with %v", wrong, err)
		}
	}
}

// A port that is open and answers each connection so.
func port(t *testing.T, answer func(net.Conn)) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			socket, err := listener.Accept()
			if err != nil {
				return
			}
			go answer(socket)
		}
	}()
	return listener.Addr().String()
}

func TestWhereNoServerAnswersTheContributorEnds(t *testing.T) {
	silent := port(t, func(net.Conn) {})
	plain := port(t, func(socket net.Conn) {
		defer socket.Close()
		socket.Write([]byte("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"))
	})
	for _, one := range []struct {
		url, text string
		timeout   time.Duration
	}{
		{"ws://127.0.0.1:1", "was not reached within 300ms", 300 * time.Millisecond},
		{"http://127.0.0.1:1", "was not reached within 300ms", 300 * time.Millisecond},
		{"ws://" + silent, "was not reached within 300ms", 300 * time.Millisecond},
		{"http://" + plain, "was not reached within 300ms", 300 * time.Millisecond},
		// At once, not after the usual minute.
		{"wss://" + plain, "does not speak TLS", 0},
	} {
		wrong := options(filepath.Join(t.TempDir(), "outbox"))
		ended := make(chan error, 1)
		wrong.URL, wrong.Timeout = one.url, one.timeout
		wrong.OnEnded = func(err error) { ended <- err }
		contributor, err := Open(wrong)
		if err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			known := new(Error)
			isTold := errors.As(err, &known) && known.Code == "transport-failed"
			if !isTold || !strings.Contains(known.Text, one.text) {
				t.Errorf("%s ended with %v", one.url, err)
			}
			if err := contributor.Close(); !errors.As(err, &known) {
				t.Errorf("Close says %v", err)
			}
		case <-time.After(30 * time.Second):
			t.Errorf("%s is waited for", one.url)
		}
	}
}

func TestWhereTheOutboxFailsTheContributorEnds(t *testing.T) {
	folder := t.TempDir()
	contributor, err := Open(options(filepath.Join(folder, "outbox")))
	if err != nil {
		t.Fatal(err)
	}
	os.RemoveAll(folder)
	if _, err := contributor.Send([][]float64{{1}}, false); err == nil {
		t.Error("rows were taken that no disk has")
	}
	if err := contributor.Close(); err == nil || !strings.HasPrefix(err.Error(), "outbox-failed") {
		t.Errorf("it ended with %v", err)
	}
}

func TestTheBeginningOfABatch(t *testing.T) {
	var found struct {
		Bodies map[string]struct{ Bytes string }
	}
	vectors(t, "frames.json", &found)
	wanted := unhex(t, found.Bodies["batch"].Bytes)
	// The vector has float32; all but the data is the same.
	head := encode(&wire.BatchBody{StudyId: wanted[2:34], Sequence: 1, Epoch: 7})
	if !bytes.HasPrefix(wanted, head) {
		t.Errorf("%x is not the beginning of %x", head, wanted)
	}
}

func TestNumbersOfVectors(t *testing.T) {
	var found []struct {
		Name, Release string
		Names         []string
		Stated        []map[string]any
	}
	vectors(t, "numbers.json", &found)
	if len(found) < 20 {
		t.Fatalf("%d vectors", len(found))
	}
	for _, one := range found {
		answers := answersOf(decodeRelease(unhex(t, one.Release)))
		for at, number := range answers[0].Numbers {
			place := at % len(one.Names)
			if number.Name != one.Names[place] || number.Value != 2+float64(at)/4 ||
				number.Low != number.Value-1 || !number.HasAnswer {
				t.Errorf("%s: %v is not %s", one.Name, number, one.Names[place])
			}
			stated := one.Stated[place]
			for name, part := range map[string]any{"kind": number.Kind, "unit": number.Unit,
				"column": number.Column, "least": number.Least, "most": number.Most} {
				text, isText := part.(string)
				value, isValue := part.(float64)
				isAbsent := (isText && text == "") || (isValue && math.IsInf(value, 0))
				if stated[name] != part && !(isAbsent && stated[name] == nil) {
					t.Errorf("%s: %s is %v, not %v", one.Name, name, part, stated[name])
				}
			}
			if one.Name == "contributors in groups" && len(number.Group) != 2 {
				t.Errorf("%v", number.Group)
			}
		}
	}
}

func TestOpenEnds(t *testing.T) {
	var found []struct{ Name, Release string }
	vectors(t, "numbers.json", &found)
	for _, ends := range [][2]float64{
		{1, math.Inf(1)}, {math.Inf(-1), 5}, {math.Inf(-1), math.Inf(1)}, {1, 5},
	} {
		release := decodeRelease(unhex(t, found[0].Release))
		value := release.Outcome.GetValue()
		value.IntervalLow, value.IntervalHigh = []float64{0, ends[0]}, []float64{9, ends[1]}
		numbers := answersOf(release)[0].Numbers
		if numbers[0].Low != 0 || numbers[0].High != 9 || numbers[1].Low != ends[0] ||
			numbers[1].High != ends[1] {
			t.Errorf("%v is not %v", numbers, ends)
		}
		// The interval that false rows cannot break is the one of the answer.
		value.IntervalIfFalseLow = []float64{-3, ends[0]}
		value.IntervalIfFalseHigh = []float64{12, ends[1]}
		numbers = answersOf(release)[0].Numbers
		if numbers[0].Low != -3 || numbers[0].High != 12 {
			t.Errorf("%v is not from -3 to 12", numbers)
		}
	}
}

func TestNumbersThatAreNotDescribed(t *testing.T) {
	var found []struct{ Name, Release string }
	vectors(t, "numbers.json", &found)
	for name, change := range map[string]func(numbers *wire.Numbers){
		"none":             func(numbers *wire.Numbers) { numbers.Kind = nil },
		"one":              func(numbers *wire.Numbers) { numbers.Kind = []uint32{3, 2} },
		"three":            func(numbers *wire.Numbers) { numbers.Kind = []uint32{3, 6} },
		"an empty run":     func(numbers *wire.Numbers) { numbers.Kind = []uint32{3, 0, 3, 4} },
		"half a run":       func(numbers *wire.Numbers) { numbers.Kind = []uint32{3} },
		"nothing":          func(numbers *wire.Numbers) { numbers.Kind = []uint32{0, 4} },
		"a far text":       func(numbers *wire.Numbers) { numbers.Column = []uint32{9, 4} },
		"a growing nought": func(numbers *wire.Numbers) { numbers.Column = []uint32{0, 5} },
		"no number":        func(numbers *wire.Numbers) { numbers.Values = []float64{math.Inf(1)} },
	} {
		release := decodeRelease(unhex(t, found[0].Release))
		change(release.Outcome.GetValue().Numbers)
		if catch(func() { answersOf(release) }) == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

func TestVerifyRelease(t *testing.T) {
	var found struct {
		StudyID      string
		ServerFrames map[string]struct{ Bytes string }
	}
	vectors(t, "frames.json", &found)
	release := decodeFrame(unhex(t, found.ServerFrames["release"].Bytes)).GetRelease()
	key, study := decodeRelease(release.Body).ServerKey, unhex(t, found.StudyID)
	answers, err := VerifyRelease(key, study, release.Body, release.Signature)
	if err != nil || len(answers) != 1 || answers[0].Numbers[0].Name != "delay_minutes" {
		t.Errorf("%v %v", answers, err)
	}
	body := append([]byte{}, release.Body...)
	body[len(body)-1] ^= 1
	if _, err := VerifyRelease(key, study, body, release.Signature); err == nil {
		t.Error("changed bytes were taken")
	}
	if _, err := VerifyRelease(key, make([]byte, 32), release.Body, release.Signature); err == nil {
		t.Error("a release of another study was taken")
	}
}
