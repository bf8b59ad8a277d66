package keelson

import (
	"bytes"
	"crypto/aes"
	gcm "crypto/cipher"
	"crypto/ed25519"
	cryptorand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/crypto/curve25519"
	"golang.org/x/crypto/hkdf"
	"google.golang.org/protobuf/proto"
	"keelson/wire"
)

// Encrypted channels: section 12 of the protocol.
const (
	kindBatch, kindOpened, kindAck byte = 1, 2, 3
	// A share counts for so long after its time by this machine's clock, which may be wrong.
	shareGrace = 24 * time.Hour
)

// Somebody changed, dropped or repeated frames. Another connection may get through.
var errBetween = errors.New("a frame is not from the server: somebody may stand in between")

// Z, on which both sides agree. A share of small order gives zeros, and is refused.
func agree(secret, share []byte) []byte {
	agreed, err := curve25519.X25519(secret, share)
	require(err == nil, "malformed", "the server's key share cannot be used: %v", err)
	return agreed
}

// The share of a Welcome that a channel may be opened with; nil where there is none, or one that is
// over for a day.
func takenShare(serverKey []byte, stated *wire.KeyShare, now time.Time) []byte {
	if stated == nil {
		return nil
	}
	payload := append([]byte{}, stated.Share...)
	payload = binary.BigEndian.AppendUint64(payload, stated.IssuedMs)
	payload = binary.BigEndian.AppendUint64(payload, stated.UntilMs)
	verify(serverKey, SignedMessage("share", serverKey, nil, nil, digest(payload)), stated.Signature)
	agree(make([]byte, 32), stated.Share)
	if nowMs := now.Add(-shareGrace).UnixMilli(); nowMs > 0 && uint64(nowMs) > stated.UntilMs {
		return nil
	}
	return stated.Share
}

// The contributor's end of an encrypted channel. Frames are numbered in each direction, and the
// number is not sent: each frame must be sent, or opened, before the one after it.
type cipher struct {
	up, down       gcm.AEAD
	sent, received uint64
}

// The key schedule, of Z and of the 180 bytes that Open signs.
func newCipher(agreed, message []byte) *cipher {
	salt := sha256.Sum256(message)
	root := hkdf.Extract(sha256.New, agreed, salt[:])
	key := func(label string) gcm.AEAD {
		key := make([]byte, 32)
		_, err := io.ReadFull(hkdf.Expand(sha256.New, root, []byte(label)), key)
		orLost(err)
		block, err := aes.NewCipher(key)
		orLost(err)
		sealing, err := gcm.NewGCM(block)
		orLost(err)
		return sealing
	}
	return &cipher{up: key("keelson v2 contributor"), down: key("keelson v2 server")}
}

func nonceOf(number *uint64) []byte {
	nonce := binary.BigEndian.AppendUint64(make([]byte, 4), *number)
	*number++
	return nonce
}

// The next EncryptedBatch.
func (c *cipher) seal(body []byte) []byte {
	return c.up.Seal(nil, nonceOf(&c.sent), append(digest(body), body...), []byte{kindBatch})
}

// The contents of the next frame that the server sealed.
func (c *cipher) open(kind byte, encrypted []byte) []byte {
	plain, err := c.down.Open(nil, nonceOf(&c.received), encrypted, []byte{kind})
	if err != nil {
		panic(errBetween)
	}
	return plain
}

// A channel whose batches are encrypted.
type encryptedLink struct {
	*websocket.Conn
	channel uint32
	cipher  *cipher
}

func (e *encryptedLink) sendBatch(c *Contributor, body []byte) error {
	return write(e.Conn, &wire.ClientFrame{Kind: &wire.ClientFrame_EncryptedBatch{
		EncryptedBatch: &wire.EncryptedBatch{Channel: e.channel, Encrypted: e.cipher.seal(body)}}})
}

// The part of a frame that counts on this channel. Anybody in between can make one in the clear: an
// Ack of these says nothing, and a Refusal that a frame did not come as it was sent is no error of
// this client.
func (e *encryptedLink) believed(frame *wire.ServerFrame) *wire.ServerFrame {
	if refusal := frame.GetRefusal(); refusal != nil && isBetween(refusal) {
		panic(errBetween)
	} else if frame.GetAck() != nil {
		return &wire.ServerFrame{}
	} else if sealed := frame.GetEncryptedAck(); sealed != nil && sealed.Channel == e.channel {
		ack := &wire.Ack{}
		decode(e.cipher.open(kindAck, sealed.Encrypted), ack)
		return &wire.ServerFrame{Kind: &wire.ServerFrame_Ack{Ack: ack}}
	}
	return frame
}

// True if a refusal on an encrypted channel says that frames did not come as they were sent.
func isBetween(refusal *wire.Refusal) bool {
	return refusal.Code == wire.Code_CODE_BAD_SIGNATURE || refusal.Code == wire.Code_CODE_STALE_SHARE ||
		refusal.Code == wire.Code_CODE_MALFORMED && refusal.Channel == 0
}

// An Open that was not sent yet, and the cipher that it opens. The secret is overwritten.
func (c *Contributor) opening(welcome *wire.Welcome, studyID, share, secret []byte) (*wire.Open, *cipher) {
	clientShare, err := curve25519.X25519(secret, curve25519.Basepoint)
	orLost(err)
	payload := digest(bytes.Join([][]byte{welcome.ServerNonce, share, clientShare}, nil))
	message := SignedMessage("open", welcome.ServerKey, studyID, c.key(), payload)
	agreed := agree(secret, share)
	copy(secret, make([]byte, len(secret)))
	return &wire.Open{StudyId: studyID, PublicKey: c.key(), ClientShare: clientShare,
		Signature: ed25519.Sign(c.signer, message), Enrolment: c.options.Enrolment}, newCipher(agreed, message)
}

// From Welcome to Opened, which proves the server's key: nobody else seals it.
func (c *Contributor) openEncrypted(socket *websocket.Conn, next func() *wire.ServerFrame,
	welcome *wire.Welcome, studyID, share []byte) (link, *wire.Ready) {
	secret := make([]byte, 32)
	_, err := cryptorand.Read(secret)
	orLost(err)
	open, cipher := c.opening(welcome, studyID, share, secret)
	orLost(write(socket, &wire.ClientFrame{Kind: &wire.ClientFrame_Open{Open: open}}))
	var opened *wire.Opened
	for !bytes.Equal(opened.GetPublicKey(), c.key()) {
		frame := next()
		if refusal := frame.GetRefusal(); refusal != nil && refusal.Channel == 0 {
			if isBetween(refusal) {
				panic(errBetween)
			}
			panic(refusalOf(refusal.Code, refusal.Retryable, refusal.Text))
		}
		opened = frame.GetOpened()
	}
	ready := &wire.Ready{}
	decode(cipher.open(kindOpened, opened.Encrypted), ready)
	if ready.Channel != opened.Channel {
		panic(errBetween)
	}
	return &encryptedLink{Conn: socket, channel: ready.Channel, cipher: cipher}, ready
}

// A message that was sealed, in the form that section 1 of the protocol allows.
func decode(data []byte, message proto.Message) {
	err := proto.Unmarshal(data, message)
	require(err == nil, "malformed", "a sealed message cannot be read: %v", err)
	check(message.ProtoReflect())
}
