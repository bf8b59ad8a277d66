package keelson

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"encoding/hex"
	"strings"
)

// The lowest 255 bits of the points of small order.
var smallOrder = strings.Fields(`
0000000000000000000000000000000000000000000000000000000000000000
0100000000000000000000000000000000000000000000000000000000000000
26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05
c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a
ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f`)

// Refuses keys that both sides must refuse: section 3 of the protocol.
func checkKey(key []byte) {
	require(len(key) == 32, "invalid-key", "a key has 32 bytes, not %d", len(key))
	y := append([]byte{}, key...)
	y[31] &= 0x7f
	isReduced := y[0] < 0xed || y[31] < 0x7f || bytes.Count(y[1:31], []byte{0xff}) < 30
	require(isReduced, "invalid-key", "y is not reduced")
	for _, one := range smallOrder {
		require(hex.EncodeToString(y) != one, "invalid-key", "the key is a point of small order")
	}
}

func digest(data []byte) []byte {
	sum := sha512.Sum512(data)
	return sum[:]
}

// SignedMessage gives the 180 bytes that are signed: section 5 of the protocol, and section 12 for
// the labels share and open. A part that is nil is zeros.
func SignedMessage(label string, serverKey, studyID, contributorKey, payload []byte) []byte {
	out := make([]byte, 180)
	copy(out, "keelson "+label)
	if out[19] = 1; label == "share" || label == "open" {
		out[19] = 2
	}
	copy(out[20:], serverKey)
	copy(out[52:], studyID)
	copy(out[84:], contributorKey)
	copy(out[116:], payload)
	return out
}

func verify(key, message, signature []byte) {
	isValid := ed25519.Verify(key, message, signature)
	require(isValid, "bad-signature", "a signature of the server is not valid")
}

// All keys of a server, the newest first. Every rotation is verified: section 5 of the protocol.
func keysOf(serverKey []byte, rotations [][]byte) [][]byte {
	require(len(rotations) <= 64, "malformed", "more than 64 rotations")
	checkKey(serverKey)
	keys := [][]byte{serverKey}
	for i := len(rotations) - 1; i >= 0; i-- {
		before, after, signatures := rotations[i][:32], rotations[i][32:64], rotations[i][64:]
		isNext := bytes.Equal(keys[len(keys)-1], after)
		require(isNext, "bad-signature", "the rotations do not lead to the server's key")
		checkKey(before)
		message := SignedMessage("rotation", before, nil, nil, digest(after))
		verify(before, message, signatures[:64])
		verify(after, message, signatures[64:])
		keys = append(keys, before)
	}
	return keys
}
