package keelson

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"keelson/wire"
)

const (
	renumberedMost            = 3
	pollFirst, pollIdle       = 100 * time.Millisecond, time.Second
	pollMost                  = 10 * time.Second
	requestMost               = time.Minute
	answerMost          int64 = 64 << 20
)

// With Options.Once each batch goes in a request of its own, to POST /v1/once: section 9 of the
// protocol. It is for people who send once. Give the id of the study, so that a cache can answer
// what the study asks. Rows are in the outbox before they are sent, go again with the same bytes
// until they have their verdict, and count once. It differs where a connection tells its own key
// more: the outbox keeps the next sequence, and what an epoch takes nothing of is `not-counted`,
// whatever the reason. The answer is as good as the connection, so use TLS. Sealed studies end it
// with `unsupported`, as a server without /v1/once does.
type requests struct {
	client  http.Client
	base    url.URL
	answers chan answer
	context context.Context
	cancel  func()
}

type answer struct {
	frame *wire.ServerFrame
	err   error
}

func newRequests(c *Contributor) *requests {
	base, err := url.Parse(c.url)
	orLost(err)
	base.Scheme, base.RawQuery = strings.Replace(base.Scheme, "ws", "http", 1), ""
	r := &requests{base: *base, answers: make(chan answer)}
	r.client.Timeout = requestMost
	if c.isLimited() && c.options.Timeout < requestMost {
		r.client.Timeout = c.options.Timeout
	}
	r.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	r.context, r.cancel = context.WithCancel(context.Background())
	return r
}

func (r *requests) Close() error {
	r.cancel()
	return nil
}

func (r *requests) believed(frame *wire.ServerFrame) *wire.ServerFrame { return frame }

// Begins a request. Its answer comes as a frame does.
func (r *requests) sendBatch(c *Contributor, body []byte) error {
	batch := c.signed(body)
	once := encode(&wire.Once{StudyId: c.outbox.StudyID, PublicKey: c.key(),
		Enrolment: c.options.Enrolment, Body: batch.Body, Signature: batch.Signature})
	go r.tell(func() *wire.ServerFrame {
		frame := decodeFrame(r.ask(http.MethodPost, "v1/once", once))
		isVerdict := frame.GetAck() != nil || frame.GetRefusal() != nil
		require(isVerdict, "malformed", "an answer without a verdict")
		return frame
	})
	return nil
}

func (r *requests) tell(work func() *wire.ServerFrame) {
	var found answer
	found.err = catch(func() { found.frame = work() })
	select {
	case r.answers <- found:
	case <-r.context.Done():
	}
}

// The answers of a server with status 200. Another status that stays ends the contributor.
func (r *requests) ask(method, path string, body []byte) []byte {
	data, status, rest := r.exchange(method, path, body)
	if status == http.StatusOK {
		return data
	}
	var said struct{ Error struct{ Code, Text string } }
	json.Unmarshal(data, &said)
	switch status {
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		panic(fault("unsupported", "the server takes no single batches: it is older than this client, or "+
			"the address is wrong; without Once no such path is needed"))
	case http.StatusBadRequest, http.StatusForbidden, http.StatusRequestEntityTooLarge,
		http.StatusUnsupportedMediaType:
		if said.Error.Code != "" {
			panic(fault(said.Error.Code, "%q", said.Error.Text))
		}
	}
	r.wait(rest)
	panic(errors.New("HTTP status " + strconv.Itoa(status) + ": " + said.Error.Text))
}

// The answer: its body, its status, and the pause that the server asks for.
func (r *requests) exchange(method, path string, body []byte) ([]byte, int, time.Duration) {
	request, err := http.NewRequestWithContext(
		r.context, method, r.base.JoinPath(path).String(), bytes.NewReader(body))
	orLost(err)
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/x-protobuf")
	}
	response, err := r.client.Do(request)
	orLost(err)
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, answerMost))
	orLost(err)
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	rest := time.Duration(seconds) * time.Second
	if seconds < 0 || rest > requestMost {
		rest = requestMost
	}
	return data, response.StatusCode, rest
}

func (r *requests) wait(pause time.Duration) {
	select {
	case <-time.After(pause):
	case <-r.context.Done():
	}
}

// The facts that a batch needs: from a cache, where the study is given by its id.
func (r *requests) welcome(study string) *wire.Welcome {
	if id, err := hex.DecodeString(study); err == nil && len(id) == 32 {
		data, status, _ := r.exchange(http.MethodGet, "v1/studies/"+strings.ToLower(study)+"/open", nil)
		var open struct {
			Welcome       string
			EncryptedOnly bool
		}
		if status == http.StatusOK && json.Unmarshal(data, &open) == nil {
			require(!open.EncryptedOnly, "unsupported",
				"the server takes rows on encrypted channels alone: leave Once out")
			frame, err := base64.StdEncoding.DecodeString(open.Welcome)
			orLost(err)
			return decodeFrame(frame).GetWelcome()
		}
	}
	// A server without this study says in its Welcome which studies it has.
	data := r.ask(http.MethodPost, "v1/batches", nil)
	size, start := binary.Uvarint(data)
	isWhole := start > 0 && size <= uint64(len(data)-start)
	require(isWhole, "malformed", "the server's first answer is no frame")
	return decodeFrame(data[start : start+int(size)]).GetWelcome()
}

// Serves until a request fails. Nobody says when an epoch opens, so it is asked while rows wait.
func (c *Contributor) serveOnce() {
	require(!c.options.EncryptedOnly, "unsupported",
		"a batch without a channel is signed and not encrypted: leave Once out")
	r := newRequests(c)
	defer r.Close()
	wanted := c.options.Study
	if c.outbox.StudyID != nil {
		wanted = hex.EncodeToString(c.outbox.StudyID)
	}
	welcome := r.welcome(wanted)
	study, studyID, columns := c.known(welcome)
	if id := hex.EncodeToString(studyID); !strings.EqualFold(id, wanted) {
		// Only this answer says whether the server takes signed rows.
		r.welcome(id)
	}
	c.isReached, r.client.Timeout = true, requestMost
	orLost(c.guarded(func() {
		c.begin(r, welcome, studyID, columns,
			&wire.Ready{Credit: 1, Epoch: study.Epoch, NextSequence: c.outbox.Used + 1})
		c.stop(study.State)
	}))
	pause := pollFirst
	for {
		select {
		case <-r.context.Done():
			panic(errors.New("the contributor was closed"))
		case one := <-r.answers:
			orLost(one.err)
			orLost(c.guarded(func() { c.take(one.frame) }))
		case <-time.After(pause):
			var waits bool
			orLost(c.guarded(func() { waits = c.epoch == 0 && len(c.outbox.Items) > 0 }))
			if !waits {
				pause = pollIdle
			} else if c.poll(r, studyID); pause < pollMost {
				pause *= 2
			}
		}
	}
}

// Asks how the study stands.
func (c *Contributor) poll(r *requests, studyID []byte) {
	welcome := r.welcome(hex.EncodeToString(studyID))
	study, _, _ := c.known(welcome)
	notice := &wire.Notice{StudyId: studyID, State: study.State, Epoch: study.Epoch}
	orLost(c.guarded(func() {
		c.take(&wire.ServerFrame{Kind: &wire.ServerFrame_Notice{Notice: notice}})
	}))
}

// Without a channel the epoch that a batch names may have closed: the sequence is used up, and its
// rows go to the open epoch under the next one. While none is open the same bytes get the same
// answer, which says when one opens.
func (c *Contributor) isNumberedAgain(one *wire.Rejection, owner *item) bool {
	return c.options.Once && one.Code == wire.Code_CODE_STALE_EPOCH &&
		owner.Batches[one.Sequence].renumbered < renumberedMost
}
