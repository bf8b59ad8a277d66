// Package keelson contributes rows of numbers to a study of a Keelson server. It follows
// docs/reference/protocol.md, and `keelson conform` tries it.
package keelson

import (
	"bytes"
	"crypto/ed25519"
	cryptorand "crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"math/rand"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"google.golang.org/protobuf/proto"
	"keelson/wire"
)

// The largest size of a number in a row.
const valueMax = 1 << 64

// Options of Open. Study is a name or an id. Outbox is a file for rows that are not settled, made
// where there is none: one for each key and study. Seed has 32 bytes and is secret. Without
// ServerKey the first server that proves its key is trusted, and the outbox keeps the key.
// Enrolment is the operator's token, where the study asks for one. OnRecovered hears what became of
// rows of an earlier run, OnEnded why the contributor ended; neither may call the contributor. The
// contributor ends with transport-failed where the server has not answered within Timeout; zero: a
// minute, below zero: it waits for ever. Connections that are lost later are renewed for ever. With
// Once it opens no connection: see once.go. With EncryptedOnly rows go on encrypted channels alone, so
// that nobody who ends TLS in front of the server reads them; where there are none it ends with
// unsupported, and the outbox keeps the rows. Else they go signed to a server without such channels.
type Options struct {
	URL, Study, Outbox         string
	Seed, ServerKey, Enrolment []byte
	Timeout                    time.Duration
	Once, EncryptedOnly        bool
	OnRecovered                func(code string)
	OnEnded                    func(error)
}

// The carrier of batches: a socket, or requests.
type link interface {
	sendBatch(c *Contributor, body []byte) error
	// The part of a frame of the server that nobody on the way can have forged.
	believed(*wire.ServerFrame) *wire.ServerFrame
	Close() error
}

// A channel whose batches are signed.
type socketLink struct{ *websocket.Conn }

func (s socketLink) sendBatch(c *Contributor, body []byte) error {
	return write(s.Conn, &wire.ClientFrame{Kind: &wire.ClientFrame_Batch{Batch: c.signed(body)}})
}

func (s socketLink) believed(frame *wire.ServerFrame) *wire.ServerFrame { return frame }

// Contributor is a standing connection of one key to one study. It renews lost connections.
type Contributor struct {
	options         Options
	signer          ed25519.PrivateKey
	mutex           sync.Mutex // Guards what follows.
	changed         *sync.Cond
	err             error
	outbox          *outbox
	url             string
	isReached       bool // Once a server was greeted, as every later one has its key.
	link            link // Nil until Ready was verified.
	limits          *wire.Limits
	columns         int
	channel, credit uint32
	epoch, next     uint64
	holes           []uint64
}

// Open opens the outbox and begins to connect.
func Open(options Options) (c *Contributor, err error) {
	err = catch(func() {
		require(len(options.Seed) == 32, "invalid-options", "a seed has 32 bytes")
		if options.Timeout == 0 {
			options.Timeout = time.Minute
		}
		c = &Contributor{options: options, url: socketURL(options.URL), signer: ed25519.NewKeyFromSeed(options.Seed),
			outbox: openOutbox(options.Outbox)}
		c.changed = sync.NewCond(&c.mutex)
		isOwn := c.outbox.Contributor == nil || bytes.Equal(c.outbox.Contributor, c.key())
		require(isOwn, "outbox-failed", "this outbox belongs to another key")
		go c.run()
	})
	return c, err
}

// The WebSocket address of a server: http and https become ws and wss, as in the other clients.
func socketURL(text string) string {
	address, err := url.Parse(text)
	schemes := map[string]string{"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}
	isURL := err == nil && schemes[address.Scheme] != "" && address.Hostname() != "" &&
		address.Port() != "0" && address.Fragment == ""
	require(isURL, "invalid-options", "the URL cannot be used: write it like ws://127.0.0.1:8787")
	address.Scheme = schemes[address.Scheme]
	return address.String()
}

func (c *Contributor) key() []byte { return c.signer.Public().(ed25519.PublicKey) }

// With the mutex, while it has not ended. It ends where the outbox fails.
func (c *Contributor) guarded(work func()) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.err != nil {
		return c.err
	}
	err := catch(work)
	if final := new(Error); errors.As(err, &final) && final.Code == "outbox-failed" {
		c.end(err)
	}
	return err
}

// Send stores rows. When it returns they are durable. The channel gets what became of them:
// "accepted", or the code of the refusal. It is closed without, if the contributor ends first: then
// the outbox keeps the rows, and Close says why. With last, the contribution to the epoch is
// complete.
func (c *Contributor) Send(rows [][]float64, last bool) (settled <-chan string, err error) {
	err = c.guarded(func() {
		require(len(rows) > 0 && len(rows[0]) > 0, "invalid-rows", "give at least one row")
		for i, row := range rows {
			require(len(row) == len(rows[0]), "invalid-rows", "row %d has another length", i)
			for j, value := range row {
				isUsable := math.Abs(value) <= valueMax
				require(isUsable, "invalid-rows",
					"column %d of row %d is not a finite number of at most 2^64 in size", j, i)
			}
		}
		added := &item{Rows: rows, Last: last, settled: make(chan string, 1)}
		c.outbox.Items, settled = append(c.outbox.Items, added), added.settled
		c.outbox.save()
		c.pump()
	})
	return settled, err
}

// Close waits until all rows are settled, and disconnects. An error says what ended it before.
func (c *Contributor) Close() error {
	return c.guarded(func() {
		for c.err == nil && len(c.outbox.Items) > 0 {
			c.changed.Wait()
		}
		orLost(c.err)
		c.options.OnEnded = nil
		c.end(fault("closed", "the contributor was closed"))
	})
}

// The mutex is held, here and in what follows.
func (c *Contributor) end(err error) {
	c.err = err
	for _, one := range c.outbox.Items {
		if one.settled != nil {
			close(one.settled)
		}
	}
	c.changed.Broadcast()
	if c.drop(); c.options.OnEnded != nil {
		c.options.OnEnded(err)
	}
	c.outbox.lock.Close()
}

// Loses the connection. Its reader notices.
func (c *Contributor) drop() {
	if c.link != nil {
		c.link.Close()
	}
	c.link = nil
}

// After Ready all that is not settled goes again, in the order of the sequences.
func (c *Contributor) resume(ready *wire.Ready) {
	c.channel, c.credit, c.epoch = ready.Channel, ready.Credit, ready.Epoch
	c.next, c.holes = ready.NextSequence, nil
	beyond := c.next + uint64(c.limits.SequenceWindow)
	// The server does not know the sequences of batches that it has not settled: they are used.
	for _, one := range c.outbox.Items {
		for sequence := range one.Batches {
			if sequence >= c.next && sequence < beyond {
				c.next = sequence + 1
			}
		}
	}
	for _, hole := range ready.Holes {
		if c.owner(hole) == nil {
			c.holes = append(c.holes, hole)
		}
	}
	for _, one := range c.outbox.Items {
		for sequence, old := range one.Batches {
			old.isSent, old.isTooEarly = false, false
			// A server that was restored from an old backup may have lost batches so far ahead.
			if sequence >= beyond {
				c.renumber(one, sequence)
			}
		}
	}
	c.outbox.save()
}

// The item of a batch; nil where the sequence is not in the outbox.
func (c *Contributor) owner(sequence uint64) *item {
	for _, one := range c.outbox.Items {
		if one.Batches[sequence] != nil {
			return one
		}
	}
	return nil
}

// Signs the rows of a batch under another sequence, for the open epoch. The batch never counted.
func (c *Contributor) renumber(one *item, sequence uint64) {
	body, old := &wire.BatchBody{}, one.Batches[sequence]
	orFail(proto.Unmarshal(old.Body, body))
	delete(one.Batches, sequence)
	c.place(one, body)
	one.Batches[body.Sequence].renumbered = old.renumbered + 1
}

// Gives a batch a sequence: holes first.
func (c *Contributor) place(one *item, body *wire.BatchBody) {
	sequence := uint64(0)
	for sequence == 0 || c.owner(sequence) != nil {
		if len(c.holes) > 0 {
			sequence, c.holes = c.holes[0], c.holes[1:]
		} else {
			sequence, c.next = c.next, c.next+1
		}
	}
	if c.outbox.Used < sequence {
		c.outbox.Used = sequence
	}
	body.StudyId, body.Sequence, body.Epoch = c.outbox.StudyID, sequence, c.epoch
	one.Batches[sequence] = &batch{Body: encode(body)}
}

func (c *Contributor) take(frame *wire.ServerFrame) {
	ack, notice := frame.GetAck(), frame.GetNotice()
	if ack != nil && ack.Channel == c.channel {
		c.credit, c.epoch = ack.Credit, ack.Epoch
		c.acknowledged(ack)
	} else if notice != nil && bytes.Equal(notice.StudyId, c.outbox.StudyID) {
		c.epoch = notice.Epoch
		c.stop(notice.State)
	} else if refusal := frame.GetRefusal(); refusal != nil {
		panic(refusalOf(refusal.Code, refusal.Retryable, refusal.Text))
	}
	c.pump()
}

func (c *Contributor) acknowledged(ack *wire.Ack) {
	var putOff error
	settle := func(sequence uint64, code string) {
		if owner := c.owner(sequence); owner != nil {
			if delete(owner.Batches, sequence); owner.Code == "" {
				owner.Code = code
			}
		}
	}
	for _, sequence := range ack.Accepted {
		settle(sequence, "")
	}
	for _, one := range ack.Rejections {
		owner := c.owner(one.Sequence)
		isStale := owner != nil && c.isNumberedAgain(one, owner)
		isEarly := owner != nil && one.Retryable && one.Code == wire.Code_CODE_EPOCH_NOT_OPEN
		if (isStale || isEarly) && ack.Epoch == 0 {
			batch := owner.Batches[one.Sequence]
			batch.isSent, batch.isTooEarly = false, true
		} else if isStale {
			c.renumber(owner, one.Sequence)
		} else if !one.Retryable {
			settle(one.Sequence, nameOf(one.Code))
		} else {
			putOff = refusalOf(one.Code, one.Retryable, one.Text)
		}
	}
	c.finish()
	orLost(putOff) // After a pause and a new Hello the same bytes go again.
}

// Forgets the rows that are settled, and says what became of them.
func (c *Contributor) finish() {
	var settled, rest []*item
	for _, one := range c.outbox.Items {
		if one.Rows == nil && len(one.Batches) == 0 {
			settled = append(settled, one)
		} else {
			rest = append(rest, one)
		}
	}
	c.outbox.Items = rest
	c.outbox.save()
	for _, one := range settled {
		if one.Code == "" {
			one.Code = "accepted"
		}
		if one.settled != nil {
			one.settled <- one.Code
			close(one.settled)
		} else if c.options.OnRecovered != nil {
			c.options.OnRecovered(one.Code)
		}
	}
	c.changed.Broadcast()
}

// A study that has stopped takes no new rows. What was sent gets its answer first.
func (c *Contributor) stop(state wire.StudyState) {
	require(state > 0, "malformed", "a notice has no state")
	if state == wire.StudyState_STUDY_STATE_OPEN {
		return
	}
	err := fault([]string{"budget-exhausted", "study-ended"}[state-2], "the study has stopped")
	for _, one := range c.outbox.Items {
		if one.Rows != nil {
			one.Rows, one.Code = nil, err.Code
		}
	}
	if c.finish(); len(c.outbox.Items) == 0 {
		panic(err)
	}
}

// Signs and sends as much as epoch and credit allow.
func (c *Contributor) pump() {
	for c.link != nil {
		var oldest *item
		var lowest uint64 = math.MaxUint64
		flight := uint32(0)
		for _, one := range c.outbox.Items {
			if oldest == nil && one.Rows != nil {
				oldest = one
			}
			for sequence, found := range one.Batches {
				if found.isSent {
					flight++
				} else if (c.epoch > 0 || !found.isTooEarly) && sequence < lowest {
					lowest = sequence
				}
			}
		}
		if flight > 0 && flight >= c.credit {
			return
		} else if lowest < math.MaxUint64 {
			c.send(c.owner(lowest).Batches[lowest])
		} else if oldest == nil || c.epoch == 0 {
			return
		} else {
			c.split(oldest)
		}
	}
}

func (c *Contributor) send(one *batch) {
	one.isSent = true
	if c.link.sendBatch(c, one.Body) != nil {
		c.drop()
	}
}

func (c *Contributor) signed(body []byte) *wire.SignedBatch {
	o := c.outbox
	message := SignedMessage("batch", o.ServerKey, o.StudyID, c.key(), digest(body))
	return &wire.SignedBatch{
		Channel: c.channel, Body: body, Signature: ed25519.Sign(c.signer, message)}
}

// Puts batches in the place of rows.
func (c *Contributor) split(one *item) {
	most := (int(c.limits.FrameBytes) - 512) / (8 * c.columns)
	if limit := int(c.limits.RowsPerBatch); limit < most {
		most = limit
	}
	rows := one.Rows
	if one.Rows, one.Batches = nil, map[uint64]*batch{}; len(rows[0]) != c.columns || most < 1 {
		one.Code, rows = "wrong-columns", nil
	}
	for start := 0; start < len(rows); start += most {
		now := rows[start:]
		if len(now) > most {
			now = now[:most]
		}
		var data []byte
		for _, row := range now {
			for _, value := range row {
				data = binary.LittleEndian.AppendUint64(data, math.Float64bits(value))
			}
		}
		c.place(one, &wire.BatchBody{Last: one.Last && start+most >= len(rows), Rows: uint32(len(now)),
			Columns: uint32(c.columns), DataType: wire.DataType_DATA_TYPE_FLOAT64, Data: data})
	}
	c.finish()
}

// Connects again and again. An *Error ends the contributor, another error only the socket. The
// waits double up to a minute, and are shortened by chance.
func (c *Contributor) run() {
	const first, most = 50 * time.Millisecond, time.Minute
	ends := time.Now().Add(c.options.Timeout)
	for wait, isOver := first, false; !isOver; {
		begun := time.Now()
		serve := c.serve
		if c.options.Once {
			serve = c.serveOnce
		}
		err := c.unreached(catch(serve), ends)
		isOver = c.guarded(func() {
			if c.drop(); errors.As(err, new(*Error)) {
				c.end(err)
				panic(err)
			}
		}) != nil
		if wait *= 2; time.Since(begun) > wait {
			wait = first
		} else if wait > most {
			wait = most
		}
		pause := wait/2 + time.Duration(rand.Int63n(int64(wait/2)))
		if left := time.Until(ends); c.isLimited() && left < pause {
			pause = left
		}
		time.Sleep(pause)
	}
}

func (c *Contributor) isLimited() bool { return c.options.Timeout > 0 && !c.isReached }

// An error of a server that was never reached ends the contributor where the time is over, or where
// no time helps.
func (c *Contributor) unreached(err error, ends time.Time) error {
	var plain tls.RecordHeaderError
	if !c.isLimited() || errors.As(err, new(*Error)) {
		return err
	} else if errors.As(err, &plain) {
		return fault("transport-failed",
			"the port does not speak TLS: write ws://, or name the port of the TLS proxy")
	} else if time.Now().Before(ends) {
		return err
	}
	return fault("transport-failed",
		"the server was not reached within %v: %v. Check the address and that the server runs",
		c.options.Timeout, err)
}

func orLost(err error) {
	if err != nil {
		panic(err)
	}
}

func write(socket *websocket.Conn, frame *wire.ClientFrame) error {
	socket.SetWriteDeadline(time.Now().Add(time.Minute))
	return socket.WriteMessage(websocket.BinaryMessage, encode(frame))
}

// Serves one socket until it ends.
func (c *Contributor) serve() {
	dialer := *websocket.DefaultDialer
	dialer.Subprotocols = []string{"keelson.v2", "keelson.v1"}
	if c.isLimited() {
		dialer.HandshakeTimeout = c.options.Timeout
	}
	socket, _, err := dialer.Dial(c.url, nil)
	orLost(err)
	defer socket.Close()
	socket.SetReadLimit(64 << 20)
	// The server pings every 20 s.
	alive := func() {
		silence := time.Minute
		if c.isLimited() && c.options.Timeout < silence {
			silence = c.options.Timeout
		}
		socket.SetReadDeadline(time.Now().Add(silence))
	}
	pong := socket.PingHandler()
	socket.SetPingHandler(func(data string) error {
		alive()
		return pong(data)
	})
	next := func() *wire.ServerFrame {
		alive()
		_, data, err := socket.ReadMessage()
		orLost(err)
		return decodeFrame(data)
	}
	over := c.greet(socket, next)
	for {
		frame := over.believed(next())
		orLost(c.guarded(func() { c.take(frame) }))
	}
}

// The trusted server's study, its id and the number of its columns.
func (c *Contributor) known(welcome *wire.Welcome) (*wire.SignedStudy, []byte, int) {
	require(welcome.GetLimits() != nil, "malformed", "the first frame is no whole Welcome")
	serverKey := welcome.ServerKey
	keys := bytes.Join(keysOf(serverKey, welcome.Rotations), nil)
	for _, pin := range [][]byte{c.options.ServerKey, c.outbox.ServerKey} {
		isTrusted := len(pin) == 0 || bytes.Contains(keys, pin)
		require(isTrusted, "server-key-mismatch", "the key of this server is %x", serverKey)
	}
	return c.find(serverKey, welcome.Studies)
}

// From now on batches go over the link. What is not settled goes first.
func (c *Contributor) begin(over link, welcome *wire.Welcome, studyID []byte, columns int, ready *wire.Ready) {
	o := c.outbox
	o.ServerKey, o.StudyID, o.Contributor = welcome.ServerKey, studyID, c.key()
	c.link, c.limits, c.columns = over, welcome.Limits, columns
	c.resume(ready)
	c.pump()
}

// From Welcome to an open channel: sections 3 to 5 and 12 of the protocol.
func (c *Contributor) greet(socket *websocket.Conn, next func() *wire.ServerFrame) (over link) {
	welcome := next().GetWelcome()
	_, studyID, columns := c.known(welcome)
	var ready *wire.Ready
	if share := takenShare(welcome.ServerKey, welcome.Share, time.Now()); share != nil {
		over, ready = c.openEncrypted(socket, next, welcome, studyID, share)
	} else {
		require(!c.options.EncryptedOnly, "unsupported", "the server has no encrypted channels, or "+
			"somebody in between hides them, and EncryptedOnly is set")
		over, ready = socketLink{socket}, c.hello(socket, next, welcome, studyID)
	}
	c.isReached = true
	orLost(c.guarded(func() { c.begin(over, welcome, studyID, columns, ready) }))
	return over
}

// Opens a channel of signed batches. Ready has proved the server's key.
func (c *Contributor) hello(socket *websocket.Conn, next func() *wire.ServerFrame,
	welcome *wire.Welcome, studyID []byte) *wire.Ready {
	serverKey := welcome.ServerKey
	nonces := append(append([]byte{}, welcome.ServerNonce...), make([]byte, 32)...)
	_, err := cryptorand.Read(nonces[32:])
	orLost(err)
	signed := SignedMessage("hello", serverKey, studyID, c.key(), nonces)
	orLost(write(socket, &wire.ClientFrame{Kind: &wire.ClientFrame_Hello{Hello: &wire.Hello{
		StudyId: studyID, PublicKey: c.key(), ClientNonce: nonces[32:],
		Signature: ed25519.Sign(c.signer, signed), Enrolment: c.options.Enrolment}}}))
	var ready *wire.Ready
	for !bytes.Equal(ready.GetPublicKey(), c.key()) {
		frame := next()
		if refusal := frame.GetRefusal(); refusal != nil && refusal.Channel == 0 {
			panic(refusalOf(refusal.Code, refusal.Retryable, refusal.Text))
		}
		ready = frame.GetReady()
	}
	proof := SignedMessage("ready", serverKey, studyID, c.key(), nonces)
	verify(serverKey, proof, ready.Signature)
	return ready
}

// Facts that cannot be read are of a later version.
func (c *Contributor) find(serverKey []byte, studies []*wire.SignedStudy) (*wire.SignedStudy, []byte, int) {
	for _, one := range studies {
		id := sha256.Sum256(one.Facts)
		statement := SignedMessage("study", serverKey, id[:], nil, digest(one.Facts))
		verify(serverKey, statement, one.Signature)
		var facts struct {
			Version int
			Study   string
			Columns []json.RawMessage
			Sealed  json.RawMessage
		}
		isRead := json.Unmarshal(one.Facts, &facts) == nil
		isAsked := strings.EqualFold(c.options.Study, hex.EncodeToString(id[:])) ||
			c.options.Study == facts.Study
		if isRead && isAsked && (c.outbox.StudyID == nil || bytes.Equal(c.outbox.StudyID, id[:])) {
			require(facts.Version == 1 && len(facts.Columns) > 0, "unsupported",
				"the study has typed columns, and this client sends only numbers")
			require(facts.Sealed == nil, "unsupported", "the study is sealed, and this client cannot seal")
			return one, id[:], len(facts.Columns)
		}
	}
	panic(fault("unknown-study", "the server has no study %s that fits the outbox", c.options.Study))
}

// A code that is retryable ends only the connection, as does a channel that the server forgot.
func refusalOf(code wire.Code, isRetryable bool, text string) error {
	err := fault(nameOf(code), "%q", text)
	if isRetryable || code == wire.Code_CODE_UNKNOWN_CHANNEL {
		return errors.New(err.Error())
	}
	return err
}
