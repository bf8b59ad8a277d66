import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import type { Stage } from './live-command.js';
import { root } from './sources.js';

/** Where Debian puts the sources of its packages for Go. */
const debian = '/usr/share/gocode';
const packages = 'golang-go golang-github-gorilla-websocket-dev golang-golang-x-crypto-dev ' +
  'golang-google-protobuf-dev protobuf-compiler protoc-gen-go';

/** True if clients/go can be built here. What it needs is said where it cannot. */
export function hasGo(): boolean {
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
    execFileSync('protoc', ['--version'], { stdio: 'ignore' });
    const names =
      ['github.com/gorilla/websocket', 'golang.org/x/crypto', 'google.golang.org/protobuf'];
    if (names.every((name) => existsSync(`${debian}/src/${name}`))) return true;
  } catch {
    // Said below.
  }
  // The title of a suite that is skipped is not shown.
  process.stderr.write(`clients/go is not tested. To test it: apt-get install ${packages}\n`);
  return false;
}

/** Runs `go`, which builds offline, from Debian's packages only. */
export function go(stage: Stage, ...words: string[]): string {
  return execFileSync('go', words, {
    encoding: 'utf8', cwd: stage.folder,
    env: {
      ...process.env, GO111MODULE: 'off', GOFLAGS: '', GOPATH: `${stage.path('gopath')}:${debian}`,
      GOCACHE: stage.path('cache'), KEELSON_VECTORS: `${root}test/vectors`, CGO_ENABLED: '0',
    },
  });
}

/** Puts the client where programs of the stage import it from, as `keelson`. */
export function addGoClient(stage: Stage): void {
  const sources = stage.path('gopath/src/keelson');
  cpSync(`${root}clients/go`, sources, { recursive: true });
  mkdirSync(`${sources}/wire`, { recursive: true });
  execFileSync('protoc', [`-I${root}proto/keelson/v1`, `--go_out=${sources}/wire`,
    '--go_opt=paths=source_relative', '--go_opt=Mwire.proto=keelson/wire', 'wire.proto']);
}

/** Builds a program of one file that imports the client. @returns its path. */
export function buildGo(stage: Stage, name: string, text: string): string {
  mkdirSync(stage.path(`gopath/src/${name}`));
  stage.write(`gopath/src/${name}/main.go`, text);
  go(stage, 'build', '-o', stage.path(name), name);
  return stage.path(name);
}
