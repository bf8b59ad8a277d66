// Makes a Debian package of this folder's build: node scripts/deb.js [FOLDER]. It has what the
// container image has, and the unit of systemd. Equal builds of one commit give equal bytes.
import { execFileSync } from 'node:child_process';
import {
  chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { root } from './generated.js';

const [folder = '.'] = process.argv.slice(2);
const { version, description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const file = resolve(folder, `keelson_${version}_all.deb`);

const control = `Package: keelson
Version: ${version}
Architecture: all
Maintainer: Keelson <keelson@localhost>
Depends: nodejs (>= 20.19), passwd
Section: net
Priority: optional
Description: ${description}
 It has the command keelson and a service of systemd, which serves the study
 file /etc/keelson/study.yaml and keeps its data in /var/lib/keelson.
`;

const afterInstall = `#!/bin/sh
set -e
if [ "$1" = configure ]; then
  getent passwd keelson > /dev/null || useradd --system --user-group \\
    --home-dir /var/lib/keelson --shell /usr/sbin/nologin keelson
  mkdir -p /etc/keelson
  if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    # A service that runs goes on with the new version.
    systemctl try-restart keelson
  fi
fi
`;

const beforeRemoval = `#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
  systemctl disable --now keelson
fi
`;

const flags = `# More flags of "keelson serve", see "keelson serve --help". Behind a proxy on this machine:
# KEELSON_FLAGS="--trust-proxy 127.0.0.1 --allow-host study.example.org"
`;

const draft = mkdtempSync(join(tmpdir(), 'keelson-deb-'));
try {
  const put = (path, text, mode = 0o644) => {
    mkdirSync(dirname(join(draft, path)), { recursive: true });
    writeFileSync(join(draft, path), text);
    chmodSync(join(draft, path), mode);
  };
  chmodSync(draft, 0o755);
  mkdirSync(join(draft, 'usr/lib'), { recursive: true });
  execFileSync(process.execPath, [join(root, 'scripts/image.js'), join(draft, 'usr/lib/keelson')]);
  // The question for the health of a container.
  rmSync(join(draft, 'usr/lib/keelson/healthy.js'));
  mkdirSync(join(draft, 'usr/bin'));
  symlinkSync('../lib/keelson/bin/keelson.js', join(draft, 'usr/bin/keelson'));
  const unit = readFileSync(join(root, 'deploy/systemd/keelson.service'), 'utf8');
  put('usr/lib/systemd/system/keelson.service', unit.replace('/usr/local/bin/', '/usr/bin/'));
  put('usr/share/doc/keelson/copyright', readFileSync(join(root, 'LICENSE'), 'utf8'));
  put('etc/default/keelson', flags);
  put('DEBIAN/control', control);
  put('DEBIAN/conffiles', '/etc/default/keelson\n');
  put('DEBIAN/postinst', afterInstall, 0o755);
  put('DEBIAN/prerm', beforeRemoval, 0o755);
  const committed = execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root });
  execFileSync('dpkg-deb', ['--root-owner-group', '--build', draft, file], {
    env: { SOURCE_DATE_EPOCH: String(committed).trim(), ...process.env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
} finally {
  rmSync(draft, { recursive: true });
}
console.log(file);
