package keelson

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"keelson/wire"
)

type channelVectors struct {
	ServerKey, StudyID, ServerNonce, Share, ShareSignature, ClientSecret, ClientShare string
	Signature, Agreed                                                                 string
	IssuedMs, UntilMs                                                                 uint64
	FromContributor, FromServer                                                       []sealedVector
	FarFrame                                                                          sealedVector
}

type sealedVector struct {
	Number        uint64
	Kind          byte
	Plain, Sealed string
}

func (v *channelVectors) opening(t *testing.T) (*wire.Open, *cipher) {
	seed := make([]byte, 32)
	for i := range seed {
		seed[i] = byte(0x20 + i)
	}
	c := &Contributor{signer: ed25519.NewKeyFromSeed(seed)}
	welcome := &wire.Welcome{ServerKey: unhex(t, v.ServerKey), ServerNonce: unhex(t, v.ServerNonce)}
	return c.opening(welcome, unhex(t, v.StudyID), unhex(t, v.Share), unhex(t, v.ClientSecret))
}

func TestChannelsOfVectors(t *testing.T) {
	var found channelVectors
	vectors(t, "channel-keys.json", &found)
	open, channel := found.opening(t)
	if !bytes.Equal(open.ClientShare, unhex(t, found.ClientShare)) ||
		!bytes.Equal(open.Signature, unhex(t, found.Signature)) {
		t.Errorf("the Open is another one: %v", open)
	}
	if agreed := agree(unhex(t, found.ClientSecret), unhex(t, found.Share)); !bytes.Equal(agreed, unhex(t, found.Agreed)) {
		t.Errorf("another secret is agreed on: %x", agreed)
	}
	for _, one := range found.FromContributor {
		if sealed := channel.seal(unhex(t, one.Plain)[64:]); !bytes.Equal(sealed, unhex(t, one.Sealed)) {
			t.Errorf("frame %d is another one: %x", one.Number, sealed)
		}
	}
	for _, one := range found.FromServer {
		err := catch(func() {
			if plain := channel.open(one.Kind, unhex(t, one.Sealed)); !bytes.Equal(plain, unhex(t, one.Plain)) {
				t.Errorf("frame %d opens to %x", one.Number, plain)
			}
		})
		if err != nil {
			t.Errorf("frame %d: %v", one.Number, err)
		}
	}
	far := found.FarFrame
	channel.sent = far.Number
	if sealed := channel.seal(unhex(t, far.Plain)[64:]); !bytes.Equal(sealed, unhex(t, far.Sealed)) {
		t.Errorf("frame %d is another one: %x", far.Number, sealed)
	}
}

func TestFramesThatDoNotOpen(t *testing.T) {
	var found channelVectors
	vectors(t, "channel-keys.json", &found)
	sealed := unhex(t, found.FromServer[0].Sealed)
	changed := append([]byte{}, sealed...)
	changed[len(changed)-1] ^= 1
	for name, frame := range map[string]sealedVector{
		"another kind": {Kind: kindAck, Sealed: string(sealed)},
		"cut":          {Kind: kindOpened, Sealed: string(sealed[1:])},
		"empty":        {Kind: kindOpened},
		"changed":      {Kind: kindOpened, Sealed: string(changed)},
	} {
		_, channel := found.opening(t)
		if err := catch(func() { channel.open(frame.Kind, []byte(frame.Sealed)) }); err != errBetween {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, channel := found.opening(t)
	channel.open(kindOpened, sealed)
	if err := catch(func() { channel.open(kindOpened, sealed) }); err != errBetween {
		t.Errorf("repeated: %v", err)
	}
}

func TestSharesThatAreTaken(t *testing.T) {
	var found channelVectors
	vectors(t, "channel-keys.json", &found)
	key := unhex(t, found.ServerKey)
	stated := &wire.KeyShare{Share: unhex(t, found.Share), IssuedMs: found.IssuedMs,
		UntilMs: found.UntilMs, Signature: unhex(t, found.ShareSignature)}
	last := time.UnixMilli(int64(found.UntilMs)).Add(shareGrace)
	if takenShare(key, stated, last) == nil || takenShare(key, stated, last.Add(time.Millisecond)) != nil ||
		takenShare(key, nil, last) != nil {
		t.Error("a share is taken until a day after its time, and not longer")
	}
	for name, change := range map[string]func(*wire.KeyShare){
		"until":  func(one *wire.KeyShare) { one.UntilMs++ },
		"issued": func(one *wire.KeyShare) { one.IssuedMs++ },
		"share":  func(one *wire.KeyShare) { one.Share = make([]byte, 32) },
	} {
		changed := proto.Clone(stated).(*wire.KeyShare)
		change(changed)
		known := new(Error)
		err := catch(func() { takenShare(key, changed, last) })
		if !errors.As(err, &known) || known.Code != "bad-signature" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSharesOfSmallOrder(t *testing.T) {
	signer := ed25519.NewKeyFromSeed(make([]byte, 32))
	key := signer.Public().(ed25519.PublicKey)
	for _, point := range []string{smallOrder[0], smallOrder[1], smallOrder[4]} {
		share := unhex(t, point)
		message := SignedMessage("share", key, nil, nil, digest(append(share, make([]byte, 16)...)))
		stated := &wire.KeyShare{Share: share, Signature: ed25519.Sign(signer, message)}
		known := new(Error)
		err := catch(func() { takenShare(key, stated, time.Now()) })
		if !errors.As(err, &known) || known.Code != "malformed" {
			t.Errorf("%s: %v", point, err)
		}
	}
}

func TestASecretIsOverwritten(t *testing.T) {
	var found channelVectors
	vectors(t, "channel-keys.json", &found)
	c := &Contributor{signer: ed25519.NewKeyFromSeed(make([]byte, 32))}
	secret := bytes.Repeat([]byte{7}, 32)
	welcome := &wire.Welcome{ServerKey: unhex(t, found.ServerKey), ServerNonce: make([]byte, 32)}
	c.opening(welcome, unhex(t, found.StudyID), unhex(t, found.Share), secret)
	if !bytes.Equal(secret, make([]byte, 32)) {
		t.Errorf("%x is left", secret)
	}
}

func TestOnceIsNotEncrypted(t *testing.T) {
	wrong := options(filepath.Join(t.TempDir(), "outbox"))
	ended := make(chan error, 1)
	wrong.Once, wrong.EncryptedOnly = true, true
	wrong.OnEnded = func(err error) { ended <- err }
	if _, err := Open(wrong); err != nil {
		t.Fatal(err)
	}
	known := new(Error)
	if err := <-ended; !errors.As(err, &known) || known.Code != "unsupported" {
		t.Errorf("it ended with %v", err)
	}
}
