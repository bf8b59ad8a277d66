package keelson

import (
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
)

// Rows that are settled together. Code is the first refusal of one of their batches.
type item struct {
	Rows    [][]float64 // Until they are signed, else nil.
	Last    bool
	Code    string
	Batches map[uint64]*batch // By their sequence; without those that are settled.
	settled chan string       // Nil for rows of an earlier run.
}

// A batch. Its body is kept, so it has the same bytes each time it is sent.
type batch struct {
	Body               []byte
	isSent, isTooEarly bool // On this socket: it waits for its answer; for the next epoch.
	renumbered         int  // How often it was signed again under another sequence.
}

// The durable state of one key in one study: a file that `save` replaces as a whole, so a kill
// leaves the state before or the state after. What a study takes of one person in an epoch is
// small, and so is the file. Nothing is sent before it was saved, so a sequence that was sent never
// gets other bytes.
type outbox struct {
	path                            string
	lock                            *os.File // Until `close`, or the end of the process.
	ServerKey, StudyID, Contributor []byte   // Empty before the first Ready.
	Items                           []*item  // Oldest first.
	Used                            uint64   // The greatest sequence that was ever signed.
}

func orFail(err error) {
	if err != nil {
		panic(fault("outbox-failed", "%v", err))
	}
}

func openOutbox(path string) *outbox {
	lock, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	orFail(err)
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	require(err == nil, "outbox-failed", "another contributor uses %s", path)
	o := &outbox{path: path, lock: lock}
	text, err := os.ReadFile(path)
	if !os.IsNotExist(err) {
		orFail(err)
		orFail(json.Unmarshal(text, o))
	}
	return o
}

// The state is durable when it returns.
func (o *outbox) save() {
	text, err := json.Marshal(o)
	orFail(err)
	file, err := os.OpenFile(o.path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	orFail(err)
	defer file.Close()
	_, err = file.Write(text)
	orFail(err)
	orFail(file.Sync())
	orFail(os.Rename(o.path+".new", o.path))
	folder, err := os.Open(filepath.Dir(o.path))
	orFail(err)
	defer folder.Close()
	orFail(folder.Sync())
}
