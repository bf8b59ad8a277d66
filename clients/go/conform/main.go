// This client behind the line protocol of `keelson conform`: docs/reference/conformance.md.
package main

import (
	"bufio"
	"crypto/ed25519"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	"keelson"
)

type line struct {
	Do, URL, Study, Seed, Outbox, ServerKey, Enrolment, ID, Label, StudyID, Bytes string
	Rows                                                                          [][]float64
	Last, Once, EncryptedOnly                                                     bool
}

type members map[string]any

var writing sync.Mutex

func say(event string, more members) {
	whole := members{"event": event}
	for name, value := range more {
		whole[name] = value
	}
	text, _ := json.Marshal(whole)
	writing.Lock()
	defer writing.Unlock()
	fmt.Println(string(text))
}

func fromHex(text string) []byte {
	if text == "" {
		return nil
	}
	data, err := hex.DecodeString(text)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return data
}

func codeOf(err error) string {
	if known := new(keelson.Error); errors.As(err, &known) {
		return known.Code
	}
	return "invariant"
}

func open(one line) *keelson.Contributor {
	contributor, err := keelson.Open(keelson.Options{
		URL: one.URL, Study: one.Study, Outbox: one.Outbox, Seed: fromHex(one.Seed),
		ServerKey: fromHex(one.ServerKey), Enrolment: fromHex(one.Enrolment), Once: one.Once,
		EncryptedOnly: one.EncryptedOnly,
		OnRecovered:   func(code string) { say("settled", members{"code": code}) },
		OnEnded:       func(err error) { say("ended", members{"code": codeOf(err)}) },
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return contributor
}

func send(contributor *keelson.Contributor, one line) {
	settled, err := contributor.Send(one.Rows, one.Last)
	if err != nil {
		fmt.Fprintln(os.Stderr, err) // The kit already knows what ended the contributor.
		return
	}
	say("stored", nil)
	go func() {
		if code, isSettled := <-settled; isSettled {
			say("settled", members{"id": one.ID, "code": code})
		}
	}()
}

func sign(one line) {
	signer, payload := ed25519.NewKeyFromSeed(fromHex(one.Seed)), fromHex(one.Bytes)
	if one.Label != "hello" {
		sum := sha512.Sum512(payload)
		payload = sum[:]
	}
	key := signer.Public().(ed25519.PublicKey)
	message := keelson.SignedMessage(
		one.Label, fromHex(one.ServerKey), fromHex(one.StudyID), key, payload)
	signature := ed25519.Sign(signer, message)
	say("signed", members{
		"message": hex.EncodeToString(message), "signature": hex.EncodeToString(signature)})
}

func main() {
	say("hello", members{"can": []string{"contribute", "once", "encrypt", "encrypted-only"}})
	var contributor *keelson.Contributor
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 1<<26)
	for input.Scan() {
		var one line
		if err := json.Unmarshal(input.Bytes(), &one); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		switch one.Do {
		case "open":
			contributor = open(one)
		case "send":
			send(contributor, one)
		case "sign":
			sign(one)
		case "ping":
			say("pong", nil)
		case "close":
			go func() {
				if contributor == nil || contributor.Close() == nil {
					say("closed", nil)
				}
			}()
		}
	}
}
