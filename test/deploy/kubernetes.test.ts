import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { keelson } from '../support/command.js';
import { lastOf, stages } from '../support/dockerfile.js';
import { root } from '../support/sources.js';

const folder = `${root}deploy/kubernetes`;
const read = (name: string): unknown => parse(readFileSync(`${folder}/${name}`, 'utf8'));

interface Probe { readonly httpGet: { readonly path: string; readonly port: string } }

interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly securityContext: object;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

const kustomization = read('kustomization.yaml') as {
  readonly resources: readonly string[];
  readonly namespace: string;
  readonly images: readonly { readonly name: string; readonly newTag: string }[];
  readonly configMapGenerator: readonly {
    readonly name: string; readonly files: readonly string[];
  }[];
};
const { spec, metadata } = read('statefulset.yaml') as {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas: number;
    readonly serviceName: string;
    readonly template: { readonly spec: {
      readonly securityContext: { readonly runAsUser: number };
      readonly containers: readonly [Container];
      readonly volumes: readonly {
        readonly name: string; readonly configMap: { readonly name: string };
      }[];
    }; };
    readonly volumeClaimTemplates: readonly { readonly metadata: { readonly name: string } }[];
  };
};
const pod = spec.template.spec;
const [container] = pod.containers;
const image = stages().at(-1)!;

describe('the Kustomize base', () => {
  it('names each of its files once, and images and studies that exist', () => {
    expect([...kustomization.resources].sort()).toEqual([
      'namespace.yaml', 'network-policy.yaml', 'service.yaml', 'statefulset.yaml',
    ]);
    const kinds = kustomization.resources.map((name) => (read(name) as { kind: string }).kind);
    expect(new Set(kinds).size).toBe(4);
    expect(read('namespace.yaml')).toMatchObject({ metadata: { name: kustomization.namespace } });
    expect(kustomization.images.map(({ name }) => name)).toEqual([container.image]);
    const [{ name, files }] = kustomization.configMapGenerator as [typeof kustomization
      .configMapGenerator[0]];
    expect(pod.volumes.map((volume) => volume.configMap.name)).toEqual([name]);
    const mount = container.volumeMounts.find((each) => each.name === 'studies')!.mountPath;
    expect(container.args).toContain(`${mount}/${files[0]}`);
  });

  it('runs one server, as nobody of note, that can write to its volume alone', () => {
    expect(spec.replicas).toBe(1);
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' },
      fsGroupChangePolicy: 'OnRootMismatch',
    });
    expect(lastOf(image, 'USER').words).toEqual([`${pod.securityContext.runAsUser}:1000`]);
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false, readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    const claims = spec.volumeClaimTemplates.map((claim) => claim.metadata.name);
    const [volume] = lastOf(image, 'VOLUME').words;
    expect(container.volumeMounts.find(({ name }) => claims.includes(name))!.mountPath)
      .toBe(volume);
    // A volume's own folder is writable for its group, and such a data folder is refused.
    expect(container.args.find((word) => word.startsWith('--data=')))
      .toMatch(new RegExp(`^--data=${volume}/\\w+$`));
  });

  it('is reached and asked for its health at the port that it listens on', () => {
    const [port] = container.ports;
    expect(lastOf(image, 'EXPOSE').words).toEqual([String(port!.containerPort)]);
    for (const probe of [
      container.startupProbe, container.readinessProbe, container.livenessProbe,
    ]) expect(probe.httpGet).toEqual({ path: '/healthz', port: port!.name });
    expect(read('service.yaml')).toMatchObject({
      metadata: { name: spec.serviceName }, spec: { ports: [{ targetPort: port!.name }] },
    });
    expect(metadata.name).toBe(spec.serviceName);
  });

  const known = 'has the package\'s version, flags that exist, and a study that can be planned';
  it(known, { tags: ['slow'] }, async () => {
    const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
      version: string;
    };
    expect(kustomization.images[0]!.newTag).toBe(version);
    const { stdout } = await keelson(['serve', '--help']);
    for (const word of container.args.filter((each) => each.startsWith('--'))) {
      expect(stdout).toContain(word.split('=')[0]);
    }
    expect((await keelson(['plan', `${folder}/study.yaml`])).status).toBe(0);
  });
});
