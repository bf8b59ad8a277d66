// Package keelson contributes rows of numbers to a study of a Keelson server. It follows
// docs/reference/protocol.md, and `keelson conform` tries it.
package keelson

import (
	"bytes"
	"crypto/ed25519"
	cryptorand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"math/rand"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Options of Open. Study is a name or an id. Outbox is a file for rows that are not settled, made
// where there is none: one for each key and study. Seed has 32 bytes and is secret. Without
// ServerKey the first server that proves its key is trusted, and the outbox keeps the key.
// Enrolment is the operator's token, where the study asks for one. OnRecovered hears what became of
// rows of an earlier run, OnEnded why the contributor ended; neither may call the contributor.
type Options struct {
	URL, Study, Outbox         string
	Seed, ServerKey, Enrolment []byte
	OnRecovered                func(code string)
	OnEnded                    func(error)
}

// Contributor is a standing connection of one key to one study. It renews lost connections.
type Contributor struct {
	options                      Options
	signer                       ed25519.PrivateKey
	mutex                        sync.Mutex // Guards what follows.
	changed                      *sync.Cond
	err                          error
	outbox                       *outbox
	socket                       *websocket.Conn // Nil until Ready was verified.
	limits                       message
	columns                      int
	channel, credit, epoch, next uint64
	holes                        []any
}

// Open opens the outbox and begins to connect.
func Open(options Options) (c *Contributor, err error) {
	err = catch(func() {
		address, err := url.Parse(options.URL)
		isURL := err == nil && strings.HasPrefix(address.Scheme, "ws") && address.Host != ""
		require(isURL, "invalid-options", "the URL begins with ws:// or wss://")
		require(len(options.Seed) == 32, "invalid-options", "a seed has 32 bytes")
		c = &Contributor{options: options, signer: ed25519.NewKeyFromSeed(options.Seed),
			outbox: openOutbox(options.Outbox)}
		c.changed = sync.NewCond(&c.mutex)
		isOwn := c.outbox.Contributor == nil || bytes.Equal(c.outbox.Contributor, c.key())
		require(isOwn, "outbox-failed", "this outbox belongs to another key")
		go c.run()
	})
	return c, err
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
				isFinite := !math.IsNaN(value) && !math.IsInf(value, 0)
				require(isFinite, "invalid-rows", "column %d of row %d is not finite", j, i)
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

// Loses the socket. Its reader notices.
func (c *Contributor) drop() {
	if c.socket != nil {
		c.socket.Close()
	}
	c.socket = nil
}

// After Ready all that is not settled goes again, in the order of the sequences.
func (c *Contributor) resume(ready message) {
	c.channel, c.credit = ready.number("channel"), ready.number("credit")
	c.epoch, c.next, c.holes = ready.number("epoch"), ready.number("nextSequence"), ready.list("holes")
	beyond := c.next + c.limits.number("sequenceWindow")
	for _, one := range c.outbox.Items {
		for sequence, old := range one.Batches {
			old.isSent, old.isTooEarly = false, false
			// A server that was restored from an old backup may have lost batches so far ahead.
			if sequence >= beyond {
				delete(one.Batches, sequence)
				one.Batches[c.free()] = &batch{Epoch: c.epoch, Contents: old.Contents}
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

// A sequence for new rows: holes first.
func (c *Contributor) free() uint64 {
	for {
		sequence := c.next
		if len(c.holes) > 0 {
			sequence, c.holes = c.holes[0].(uint64), c.holes[1:]
		} else {
			c.next++
		}
		if c.owner(sequence) == nil {
			return sequence
		}
	}
}

func (c *Contributor) take(kind string, frame message) {
	switch {
	case kind == "ack" && frame.number("channel") == c.channel:
		c.credit = frame.number("credit")
		c.open(frame.number("epoch"))
		c.acknowledged(frame)
	case kind == "notice" && bytes.Equal(frame.bytes("studyId"), c.outbox.StudyID):
		c.open(frame.number("epoch"))
		c.stop(frame.number("state"))
	case kind == "refusal":
		panic(refusalOf(frame))
	}
	c.pump()
}

func (c *Contributor) acknowledged(ack message) {
	var putOff error
	codes := map[uint64]string{}
	for _, sequence := range ack.list("accepted") {
		codes[sequence.(uint64)] = ""
	}
	for _, one := range ack.list("rejections") {
		refused := one.(message)
		sequence := refused.number("sequence")
		if owner := c.owner(sequence); !refused.isRetryable() {
			codes[sequence] = refused.code()
		} else if owner != nil && refused.code() == "epoch-not-open" && ack.number("epoch") == 0 {
			owner.Batches[sequence].isSent, owner.Batches[sequence].isTooEarly = false, true
		} else {
			putOff = refusalOf(refused)
		}
	}
	for sequence, code := range codes {
		if owner := c.owner(sequence); owner != nil {
			if delete(owner.Batches, sequence); owner.Code == "" {
				owner.Code = code
			}
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

func (c *Contributor) open(epoch uint64) {
	for _, one := range c.outbox.Items {
		for _, waiting := range one.Batches {
			waiting.isTooEarly = waiting.isTooEarly && epoch == c.epoch
		}
	}
	c.epoch = epoch
}

// A study that has stopped takes no new rows. What was sent gets its answer first.
func (c *Contributor) stop(state uint64) {
	if require(state > 0, "malformed", "a notice has no state"); state == 1 {
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
	for c.socket != nil {
		var oldest *item
		var lowest, flight uint64 = math.MaxUint64, 0
		for _, one := range c.outbox.Items {
			if oldest == nil && one.Rows != nil {
				oldest = one
			}
			for sequence, found := range one.Batches {
				if found.isSent {
					flight++
				} else if !found.isTooEarly && sequence < lowest {
					lowest = sequence
				}
			}
		}
		if flight > 0 && flight >= c.credit {
			return
		} else if lowest < math.MaxUint64 {
			c.send(lowest, c.owner(lowest).Batches[lowest])
		} else if oldest == nil || c.epoch == 0 {
			return
		} else {
			c.split(oldest)
		}
	}
}

func (c *Contributor) send(sequence uint64, one *batch) {
	o := c.outbox
	body := putNumber(putNumber(putBytes(nil, 1, o.StudyID), 2, sequence), 3, one.Epoch)
	body = append(body, one.Contents...)
	message := SignedMessage("batch", o.ServerKey, o.StudyID, c.key(), digest(body))
	frame := putBytes(putNumber(nil, 1, c.channel), 2, body)
	frame = putBytes(frame, 3, ed25519.Sign(c.signer, message))
	if one.isSent = true; write(c.socket, putBytes(nil, 2, frame)) != nil {
		c.drop()
	}
}

// Puts batches in the place of rows.
func (c *Contributor) split(one *item) {
	most := int(c.limits.number("frameBytes")-512) / (8 * c.columns)
	if limit := int(c.limits.number("rowsPerBatch")); limit < most {
		most = limit
	}
	rows := one.Rows
	if one.Rows, one.Batches = nil, map[uint64]*batch{}; len(rows[0]) != c.columns || most < 1 {
		one.Code, rows = "wrong-dimension", nil
	}
	for start := 0; start < len(rows); start += most {
		now := rows[start:]
		if len(now) > most {
			now = now[:most]
		}
		var contents, data []byte
		for _, row := range now {
			for _, value := range row {
				data = binary.LittleEndian.AppendUint64(data, math.Float64bits(value))
			}
		}
		if one.Last && start+most >= len(rows) {
			contents = putNumber(nil, 4, 1)
		}
		contents = putNumber(putNumber(contents, 5, uint64(len(now))), 6, uint64(c.columns))
		contents = putBytes(putNumber(contents, 7, 2), 8, data)
		one.Batches[c.free()] = &batch{Epoch: c.epoch, Contents: contents}
	}
	c.finish()
}

// Connects again and again. An *Error ends the contributor, another error only the socket. The
// waits double up to a minute, and are shortened by chance.
func (c *Contributor) run() {
	const first, most = 50 * time.Millisecond, time.Minute
	for wait, isOver := first, false; !isOver; {
		begun := time.Now()
		err := catch(c.serve)
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
		time.Sleep(wait/2 + time.Duration(rand.Int63n(int64(wait/2))))
	}
}

func orLost(err error) {
	if err != nil {
		panic(err)
	}
}

func write(socket *websocket.Conn, frame []byte) error {
	socket.SetWriteDeadline(time.Now().Add(time.Minute))
	return socket.WriteMessage(websocket.BinaryMessage, frame)
}

// Serves one socket until it ends.
func (c *Contributor) serve() {
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment,
		Subprotocols: []string{"keelson.v1"}, HandshakeTimeout: 10 * time.Second}
	socket, _, err := dialer.Dial(c.options.URL, nil)
	orLost(err)
	defer socket.Close()
	socket.SetReadLimit(64 << 20)
	// The server pings every 20 s.
	alive := func() { socket.SetReadDeadline(time.Now().Add(time.Minute)) }
	pong := socket.PingHandler()
	socket.SetPingHandler(func(data string) error {
		alive()
		return pong(data)
	})
	next := func() (string, message) {
		alive()
		_, data, err := socket.ReadMessage()
		orLost(err)
		return decodeFrame(data)
	}
	c.greet(socket, next)
	for {
		kind, frame := next()
		orLost(c.guarded(func() { c.take(kind, frame) }))
	}
}

// From Welcome to Ready: sections 3 to 5 of the protocol.
func (c *Contributor) greet(socket *websocket.Conn, next func() (string, message)) {
	kind, welcome := next()
	isWhole := kind == "welcome" && welcome.part("limits") != nil
	require(isWhole, "malformed", "the first frame is no Welcome")
	serverKey := welcome.bytes("serverKey")
	keys := bytes.Join(keysOf(serverKey, welcome.list("rotations")), nil)
	for _, pin := range [][]byte{c.options.ServerKey, c.outbox.ServerKey} {
		isTrusted := len(pin) == 0 || bytes.Contains(keys, pin)
		require(isTrusted, "server-key-mismatch", "the key of this server is %x", serverKey)
	}
	studyID, columns := c.find(serverKey, welcome.list("studies"))
	nonces := append(append([]byte{}, welcome.bytes("serverNonce")...), make([]byte, 32)...)
	_, err := cryptorand.Read(nonces[32:])
	orLost(err)
	signed := SignedMessage("hello", serverKey, studyID, c.key(), nonces)
	hello := putBytes(putBytes(putBytes(nil, 1, studyID), 2, c.key()), 3, nonces[32:])
	hello = putBytes(putBytes(hello, 4, ed25519.Sign(c.signer, signed)), 5, c.options.Enrolment)
	orLost(write(socket, putBytes(nil, 1, hello)))
	var ready message
	for kind != "ready" || !bytes.Equal(ready.bytes("publicKey"), c.key()) {
		if kind, ready = next(); kind == "refusal" && ready.number("channel") == 0 {
			panic(refusalOf(ready))
		}
	}
	proof := SignedMessage("ready", serverKey, studyID, c.key(), nonces)
	verify(serverKey, proof, ready.bytes("signature"))
	orLost(c.guarded(func() {
		o := c.outbox
		o.ServerKey, o.StudyID, o.Contributor = serverKey, studyID, c.key()
		c.socket, c.limits, c.columns = socket, welcome.part("limits"), columns
		c.resume(ready)
		c.pump()
	}))
}

// The id and the number of columns of the study. Facts that cannot be read are of a later version.
func (c *Contributor) find(serverKey []byte, studies []any) ([]byte, int) {
	for _, one := range studies {
		text := one.(message).bytes("facts")
		id := sha256.Sum256(text)
		statement := SignedMessage("study", serverKey, id[:], nil, digest(text))
		verify(serverKey, statement, one.(message).bytes("signature"))
		var facts struct {
			Version int
			Study   string
			Columns []json.RawMessage
		}
		isRead := json.Unmarshal(text, &facts) == nil
		isAsked := strings.EqualFold(c.options.Study, hex.EncodeToString(id[:])) ||
			c.options.Study == facts.Study
		if isRead && isAsked && (c.outbox.StudyID == nil || bytes.Equal(c.outbox.StudyID, id[:])) {
			require(facts.Version == 1 && len(facts.Columns) > 0, "unsupported",
				"the study has typed columns, and this client sends only numbers")
			return id[:], len(facts.Columns)
		}
	}
	panic(fault("unknown-study", "the server has no study %s that fits the outbox", c.options.Study))
}

// A code that is retryable ends only the connection, as does a channel that the server forgot.
func refusalOf(frame message) error {
	err := fault(frame.code(), "%q", frame.bytes("text"))
	if frame.isRetryable() || frame.code() == "unknown-channel" {
		return errors.New(err.Error())
	}
	return err
}
