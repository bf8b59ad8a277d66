import { spawnSync } from 'node:child_process';
import {
  mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { parseSettingsText } from '../../server/study-file/settings.js';
import { routeOf } from '../../server/operator/routes.js';
import { keelson } from '../support/command.js';
import { lastOf, stages } from '../support/dockerfile.js';
import { chartFolder, documentsOf, rendered, renderText } from '../support/helm-chart.js';
import { root } from '../support/sources.js';

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  readonly env?: readonly { readonly valueFrom?: { secretKeyRef: { name: string } } }[];
  readonly ports?: readonly [{ readonly name: string; readonly containerPort: number }];
  readonly securityContext?: object;
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly [probe: `${string}Probe`]: { readonly httpGet: { path: string; port: string } };
}

interface Volume {
  readonly name: string;
  readonly configMap?: { readonly name: string };
  readonly secret?: { readonly secretName: string; readonly items: readonly { key: string }[] };
  readonly persistentVolumeClaim?: { readonly claimName: string };
}

interface Document {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data: Readonly<Record<string, string>>;
  readonly spec: {
    readonly replicas: number;
    readonly clusterIP?: string;
    readonly serviceName: string;
    readonly selector: Readonly<Record<string, unknown>>;
    readonly accessModes: readonly string[];
    readonly ports: readonly { readonly targetPort: string }[];
    readonly template: {
      readonly metadata: { labels: Record<string, string>; annotations: Record<string, string> };
      readonly spec: {
        readonly securityContext: object;
        readonly initContainers: readonly Container[];
        readonly containers: readonly [Container];
        readonly volumes: readonly Volume[];
      };
    };
    readonly volumeClaimTemplates: readonly { readonly metadata: { readonly name: string } }[];
  };
}

const study = readFileSync(`${root}deploy/kubernetes/study.yaml`, 'utf8');
const withStudy = { studies: { 'sleep.yaml': study } };
const more = {
  studies: { 'tea.yaml': study, 'sleep.yaml': study }, files: { 'people.txt': 'one\ntwo\n' },
  flags: ['--log-level=warn', '--roles=ingest'], replicas: 2,
  settings: { store: { schema: 'other' } },
  keys: { files: ['server.key', 'operator.token', 'series.key'] },
  encryptionKeys: { claim: 'shared-keys' },
};
const classed = { ...withStudy, encryptionKeys: { storageClass: 'nfs', size: '2Gi' } };

const documentsWith = (overrides: object): Document[] =>
  rendered({ ...overrides }).documents as Document[];
const ofKind = (documents: readonly Document[], kind: string): Document[] =>
  documents.filter((each) => each.kind === kind);
const named = (
  documents: readonly Document[], kind: string, name: string | undefined,
): Document | undefined => ofKind(documents, kind).find((each) => each.metadata.name === name);
const podOf = (documents: readonly Document[]): Document['spec']['template']['spec'] =>
  ofKind(documents, 'StatefulSet')[0]!.spec.template.spec;
const values = parse(readFileSync(`${chartFolder}/values.yaml`, 'utf8')) as {
  readonly keys: { readonly secret: string };
  readonly store: { readonly passwordSecret: string };
};
const kustomize = podOf([
  parse(readFileSync(`${root}deploy/kubernetes/statefulset.yaml`, 'utf8')) as Document,
]);

const placeOf = ({ kind, metadata }: Document): string => `${kind} ${metadata.name}`;

type Check = (ok: boolean, fault: string) => void;

/** What is wrong with the documents of the chart. */
function faults(documents: readonly Document[], existingClaim?: string): string[] {
  const found: string[] = [];
  const check = (ok: boolean, fault: string): void => { if (!ok) found.push(fault); };
  checkVolumes(documents, existingClaim, check);
  checkContainers(documents, check);
  checkServices(documents, check);
  checkArguments(documents, check);
  return found;
}

/** Volumes lead to what is there, or to what the operator makes. */
function checkVolumes(
  documents: readonly Document[], existingClaim: string | undefined, check: Check,
): void {
  const { volumes } = podOf(documents);
  for (const { name, configMap, secret, persistentVolumeClaim: claim } of volumes) {
    const made = named(documents, 'PersistentVolumeClaim', claim?.claimName);
    check(secret?.secretName === values.keys.secret
      || made?.spec.accessModes[0] === 'ReadWriteMany'
      || (claim !== undefined && claim.claimName === existingClaim)
      || named(documents, 'ConfigMap', configMap?.name) !== undefined, `volume ${name}`);
  }
}

function checkContainers(documents: readonly Document[], check: Check): void {
  const { initContainers, containers, volumes, securityContext } = podOf(documents);
  const { volumeClaimTemplates: claims } = ofKind(documents, 'StatefulSet')[0]!.spec;
  const names = [...volumes, ...claims.map(({ metadata }) => metadata)].map(({ name }) => name);
  const restricted = {
    allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] },
  };
  check(isDeepStrictEqual(securityContext, kustomize.securityContext), 'rights of the pod');
  for (const { name, securityContext: rights, volumeMounts = [], env = [] } of
    [...initContainers, ...containers]) {
    check(isDeepStrictEqual(rights, restricted), `rights of ${name}`);
    for (const mount of volumeMounts) check(names.includes(mount.name), `mount ${mount.name}`);
    for (const { valueFrom } of env) {
      const secret = valueFrom?.secretKeyRef.name;
      check(secret === values.store.passwordSecret, `password of ${name}`);
    }
  }
}

/** Selectors find the pods and no others, and ports and probes find the server. */
function checkServices(documents: readonly Document[], check: Check): void {
  const [{ spec: { template, serviceName, selector } }] =
    ofKind(documents, 'StatefulSet') as [Document];
  const [server] = template.spec.containers;
  const services = ofKind(documents, 'Service');
  const budget = ofKind(documents, 'PodDisruptionBudget')[0]!.spec.selector;
  for (const labels of [
    selector['matchLabels'], budget['matchLabels'], ...services.map(({ spec }) => spec.selector),
  ]) check(isDeepStrictEqual(labels, template.metadata.labels), `selects ${JSON.stringify(labels)}`);
  check(named(documents, 'Service', serviceName)?.spec.clusterIP === 'None', 'no such serviceName');
  const [{ name, containerPort }] = server.ports!;
  check(lastOf(stages().at(-1)!, 'EXPOSE').words[0] === String(containerPort), 'port of the image');
  for (const { spec } of services) check(spec.ports[0]!.targetPort === name, 'port of a service');
  for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'] as const) {
    const { path, port } = server[probe]!.httpGet;
    check(routeOf(path)?.route.access === 'public' && port === name, probe);
  }
}

/** Each path in the arguments is in a volume. */
function checkArguments(documents: readonly Document[], check: Check): void {
  const { containers: [{ args, volumeMounts = [] }], volumes } = podOf(documents);
  const folder = (name: string): string =>
    volumeMounts.find((each) => each.name === name)?.mountPath ?? 'nowhere';
  const studies = volumes.find(({ name }) => name === 'studies')?.configMap?.name;
  const known = Object.keys(named(documents, 'ConfigMap', studies)?.data ?? {})
    .map((name) => `${folder('studies')}/${name}`);
  for (const word of args.slice(1).filter((each) => !each.startsWith('--'))) {
    check(known.includes(word), `no file ${word}`);
  }
  // A volume's own folder is writable for its group, so the keys are in folders inside.
  for (const flag of [
    `--secrets=${folder('state')}/secrets`, `--encryption-keys=${folder('row-keys')}/keys`,
  ]) check(args.includes(flag), `no ${flag}`);
}

describe('the Helm chart', () => {
  const documents = documentsWith(withStudy);

  it('makes servers, services, a disruption budget, studies and a claim', () => {
    expect(documents.map(({ kind }) => kind).sort()).toEqual([
      'ConfigMap', 'PersistentVolumeClaim', 'PodDisruptionBudget', 'Service', 'Service',
      'StatefulSet',
    ]);
    const { data } = named(documents, 'ConfigMap', 'demo-studies')!;
    const { 'settings.yaml': settings, ...files } = data;
    expect(files).toEqual(withStudy.studies);
    expect(parseSettingsText(settings!, 'settings.yaml').store.schema).toBe('keelson');
  });

  it('names only what is there, with its own claim and with an existing one', () => {
    expect(faults(documents)).toEqual([]);
    expect(faults(documentsWith(classed))).toEqual([]);
    expect(faults(documentsWith(more), more.encryptionKeys.claim)).toEqual([]);
  });

  it.each([
    ['"claimName":"demo-row-keys"', '"claimName":"other"', 'volume row-keys'],
    ['ReadWriteMany', 'ReadWriteOnce', 'volume row-keys'],
    ['"secretName":"keelson-keys"', '"secretName":"other"', 'volume keys'],
    ['"configMap":{"name":"demo-studies"}', '"configMap":{"name":"other"}', 'volume studies'],
    ['{"metadata":{"name":"state"}', '{"metadata":{"name":"other"}', 'mount state'],
    ['"runAsNonRoot":true', '"runAsNonRoot":false', 'rights of the pod'],
    ['"readOnlyRootFilesystem":true', '"readOnlyRootFilesystem":false', 'rights of keys'],
    ['"valueFrom"', '"value":"word","other"', 'password of tables'],
    ['"maxUnavailable":1,"selector":{"matchLabels":{', '"selector":{"matchLabels":{"a":"b",',
      'selects {"a":"b"'],
    ['"serviceName":"demo-pods"', '"serviceName":"demo"', 'no such serviceName'],
    ['"containerPort":8787', '"containerPort":8080', 'port of the image'],
    ['"targetPort":"http"', '"targetPort":"https"', 'port of a service'],
    ['"path":"/readyz"', '"path":"/ready"', 'readinessProbe'],
    ['"path":"/readyz"', '"path":"/metrics"', 'readinessProbe'],
    ['"/etc/keelson/sleep.yaml"', '"/etc/keelson/other.yaml"', 'no file'],
    ['--encryption-keys=/var/lib/row-keys/keys', '--encryption-keys=/var/lib/row-keys',
      'no --encryption-keys'],
  ])('would be faulty with %s as %s', (from, to, fault) => {
    const text = JSON.stringify(documents);
    expect(text).toContain(from);
    const found = faults(JSON.parse(text.replace(from, to)) as Document[]);
    expect(found.join('\n')).toContain(fault);
  });

  it('takes what the operator sets', () => {
    const changed = documentsWith(more);
    const [{ spec }] = ofKind(changed, 'StatefulSet') as [Document];
    const [{ args }] = podOf(changed).containers;
    expect(spec.replicas).toBe(2);
    expect(args.slice(1, 3)).toEqual(['/etc/keelson/sleep.yaml', '/etc/keelson/tea.yaml']);
    expect(args.slice(-2)).toEqual(more.flags);
    for (const words of [podOf(changed).initContainers[1]!.args, args]) {
      expect(words).toContain('--settings=/etc/keelson/settings.yaml');
    }
    const { data } = named(changed, 'ConfigMap', 'demo-studies')!;
    expect(parse(data['settings.yaml']!)).toEqual(more.settings);
    expect(podOf(changed).volumes.find(({ name }) => name === 'keys')!.secret!.items
      .map(({ key }) => key)).toEqual(more.keys.files);
    expect(data).toHaveProperty('people\\.txt');
    expect(ofKind(changed, 'PersistentVolumeClaim')).toEqual([]);
    expect(ofKind(documentsWith(classed), 'PersistentVolumeClaim')[0]!.spec)
      .toMatchObject({ storageClassName: 'nfs', resources: { requests: { storage: '2Gi' } } });
    expect(() => rendered()).toThrow('there is no study');
  });

  it('makes servers that take no batches, and are ready all the same', () => {
    const changed = documentsWith({ ...withStudy, takesBatches: false });
    expect(faults(changed)).toEqual([]);
    const ready = (all: readonly Document[]): string =>
      podOf(all).containers[0].readinessProbe!.httpGet.path;
    expect([ready(documents), ready(changed)]).toEqual(['/readyz', '/healthz']);
    expect(podOf(changed).containers[0].args).toContain('--roles=lead,work');
    expect(podOf(documents).containers[0].args.join(' ')).not.toContain('--roles');
  });

  it('replaces the pods when a file changes', () => {
    const notes = (all: readonly Document[]): object =>
      ofKind(all, 'StatefulSet')[0]!.spec.template.metadata.annotations;
    const others = [{ studies: { 'sleep.yaml': `${study}\n` } },
      { ...withStudy, files: { 'people.txt': 'one\n' } },
      { ...withStudy, settings: { releaseTick: '1s' } }];
    for (const other of others) {
      expect(notes(documentsWith(other))).not.toEqual(notes(documents));
    }
  });

  it('copies the keys of a Secret as the server wants them, at each start', () => {
    const [{ args: [script] }] = podOf(documents).initContainers as [Container];
    const place = mkdtempSync(join(tmpdir(), 'keelson-helm-'));
    try {
      // The entries of a Secret are links to files that a group can read.
      mkdirSync(join(place, 'run/keys/..data'), { recursive: true });
      for (const word of ['first', 'second']) {
        writeFileSync(join(place, 'run/keys/..data/server.key'), word, { mode: 0o440 });
        if (word === 'first') {
          symlinkSync('..data/server.key', join(place, 'run/keys/server.key'));
        }
        const moved = script!.replaceAll(/ \/(?=run|var)/g, ` ${place}/`);
        expect(spawnSync('sh', ['-c', moved]).status).toBe(0);
        const copy = join(place, 'var/lib/keelson/secrets/server.key');
        expect(readFileSync(copy, 'utf8')).toBe(word);
        expect(statSync(copy).mode & 0o777).toBe(0o600);
        expect(statSync(join(copy, '..')).mode & 0o077).toBe(0);
        rmSync(join(place, 'run/keys/..data/server.key'));
      }
    } finally {
      rmSync(place, { recursive: true });
    }
  });

  it('has the package\'s version, and three lines for the operator', () => {
    const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
      version: string;
    };
    expect(parse(readFileSync(`${chartFolder}/Chart.yaml`, 'utf8')))
      .toMatchObject({ name: 'keelson', type: 'application', version, appVersion: version });
    const { initContainers, containers } = podOf(documents);
    for (const { image } of [...initContainers, ...containers]) {
      expect(image).toMatch(new RegExp(`/keelson:${version}$`));
    }
    expect(rendered(withStudy).notes.trimEnd().split('\n')).toHaveLength(3);
  });

  it('gives commands that the command line takes', { tags: ['slow'] }, async () => {
    const { initContainers: [, tables], containers: [server] } = podOf(documentsWith(more));
    for (const { args: words } of [tables!, server]) {
      const { stdout } = await keelson([...words.slice(0, words[0] === 'store' ? 2 : 1), '--help']);
      const flags = words.filter((word) => word.startsWith('--')).map((word) => word.split('=')[0]);
      expect(flags.filter((flag) => !stdout.includes(` ${flag} `))).toEqual([]);
    }
  });
});

describe('the renderer of these tests', () => {
  it.each([
    '{{ include "name" . }}', '{{ .Values.a | upper }}', '{{ if eq .Values.a 1 }}{{ end }}',
    '{{ with .Values }}{{ end }}', '{{ else }}', '{{ range $a := .Values }}{{ end }}',
  ])('knows no %s', (text) => {
    expect(() => renderText(text, { Values: { a: 1 } })).toThrow('unknown action');
  });

  it.each([
    ['{{ .Values.b }}', 'no such value'], ['{{ if .Values }}', 'no end'],
    ['{{ end }}', 'an end of nothing'],
  ])('refuses %s', (text, message) => {
    expect(() => renderText(text, { Values: { a: 1 } })).toThrow(message);
  });

  const hasHelm = spawnSync('helm', ['version']).error === undefined;
  if (!hasHelm) process.stderr.write('helm is not at hand: it does not render the chart\n');

  it.runIf(hasHelm).each([withStudy, more, classed])('says what helm says (%#)', (overrides) => {
    const options = { encoding: 'utf8', input: JSON.stringify(overrides) } as const;
    const words = [chartFolder, '--values', '-'];
    expect(spawnSync('helm', ['lint', '--strict', ...words], options).status).toBe(0);
    const { stdout } = spawnSync(
      'helm', ['template', 'demo', '--namespace', 'people', ...words], options);
    // Both hash other spellings of the same files.
    const plain = (all: readonly unknown[]): Document[] =>
      (JSON.parse(JSON.stringify(all).replace(/[0-9a-f]{64}/g, 'hash')) as Document[])
        .sort((a, b) => placeOf(a).localeCompare(placeOf(b)));
    expect(plain(documentsOf(stdout))).toEqual(plain(documentsWith(overrides)));
  });
});
