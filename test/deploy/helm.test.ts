/** The Helm chart: rendered by Helm's template engine, valid for Kubernetes, and of a service that runs sandboxed. */
// tier: process
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { parseYaml } from '@redocly/openapi-core';
import { Ajv } from 'ajv';
import { settingNames } from '../../src/config/settings.ts';
import { needs, pathOf } from '../support/programs/needs.ts';

const root = resolve(import.meta.dirname, '../..');
const chart = join(root, 'deploy/helm/holdfast');
const renderer = join(import.meta.dirname, 'helm/render.go');
/** Helm uses its templates. */
const withGo = needs('go');

// biome-ignore lint/suspicious/noExplicitAny: manifests of every kind
type Manifest = any;
// biome-ignore lint/suspicious/noExplicitAny: values as given by an operator
type Values = Record<string, any>;

/** Where each kind is described, and its type in that module. */
const kinds: Record<string, { module: string; type: string }> = {
  'apps/v1 Deployment': { module: 'kubernetes-models/apps/v1/Deployment', type: 'Deployment' },
  'v1 Service': { module: 'kubernetes-models/v1/Service', type: 'Service' },
  'networking.k8s.io/v1 Ingress': {
    module: 'kubernetes-models/networking.k8s.io/v1/Ingress',
    type: 'Ingress',
  },
  'networking.k8s.io/v1 NetworkPolicy': {
    module: 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy',
    type: 'NetworkPolicy',
  },
  'policy/v1 PodDisruptionBudget': {
    module: 'kubernetes-models/policy/v1/PodDisruptionBudget',
    type: 'PodDisruptionBudget',
  },
  'monitoring.coreos.com/v1 ServiceMonitor': {
    module: '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor',
    type: 'ServiceMonitor',
  },
};

const least: Values = {
  image: { repository: 'registry.example.org/holdfast' },
  publicUrl: 'https://evidence.example.org',
  trustProxy: '10.244.0.0/16',
  database: { secretName: 'holdfast-database' },
  masterKey: { secretName: 'holdfast-master-key' },
  blobs: { url: 's3://evidence/files?region=eu-central-1' },
};

/** Everything that can be switched on, and lists with something in them. */
const everything: Values = {
  ...least,
  replicas: 4,
  image: { ...least.image, tag: '1.2.3', pullSecrets: ['registry'] },
  blobs: { existingClaim: 'holdfast-files' },
  settings: { HOLDFAST_CHAIN_CONFIRMATIONS: '12', HOLDFAST_LOG_LEVEL: 'warn' },
  envFrom: [{ secretRef: { name: 'holdfast-chain' } }],
  metrics: {
    secretName: 'holdfast-metrics',
    serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
  },
  service: { annotations: { 'example.org/team': 'evidence' } },
  ingress: {
    enabled: true,
    className: 'nginx',
    tlsSecretName: 'evidence-tls',
    annotations: { 'nginx.ingress.kubernetes.io/proxy-body-size': '0' },
  },
  networkPolicy: {
    enabled: true,
    from: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress-nginx' } } }],
    egress: [{ to: [{ ipBlock: { cidr: '0.0.0.0/0' } }] }],
  },
  serviceAccountName: 'holdfast',
  podAnnotations: { 'example.org/note': 'yes' },
  podLabels: { team: 'evidence' },
  nodeSelector: { disk: 'fast' },
  tolerations: [{ key: 'evidence', operator: 'Exists', effect: 'NoSchedule' }],
  affinity: {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        { weight: 1, preference: { matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] } },
      ],
    },
  },
  priorityClassName: 'high',
  topologySpreadConstraints: [
    { maxSkew: 1, topologyKey: 'topology.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule' },
  ],
};

let folder = '';
let program = '';
let defaults: Values = {};

before(async () => {
  defaults = parseYaml(await readFile(join(chart, 'values.yaml'), 'utf8')) as Values;
});

withGo.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-helm-'));
  program = join(folder, 'render');
  const env = {
    ...process.env,
    GOCACHE: join(folder, 'cache'),
    GOPATH: join(folder, 'go'),
    GO111MODULE: 'off',
  };
  const { status, stderr } = spawnSync(pathOf('go'), ['build', '-o', program, renderer], {
    env,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
});

after(() => rm(folder, { recursive: true, force: true }));

for (const [name, given] of Object.entries({ 'the least values': least, 'everything on': everything })) {
  withGo.test(`Kubernetes would take the manifests, with ${name}`, async () => {
    const manifests = await manifestsOf(given);
    for (const manifest of manifests) {
      const kind = kindOf(manifest);
      const Model = (await import(kind.module))[kind.type];
      assert.doesNotThrow(
        () => new Model(manifest).validate(),
        `${manifest.kind}: ${JSON.stringify(manifest)}`,
      );
    }
    const faults = await typeFaults(manifests);
    assert.equal(faults, '');
  });
}

withGo.test('a field that Kubernetes does not know is noticed', async () => {
  const [deployment] = (await manifestsOf(least)).filter(({ kind }) => kind === 'Deployment');
  deployment.spec.template.spec.containers[0].livenesProbe = {};
  assert.match(await typeFaults([deployment]), /livenesProbe/);
});

withGo.test(
  'pods run without privileges, on a read-only file system, with secrets from Secrets',
  {},
  async () => {
    const [deployment] = (await manifestsOf(least)).filter(({ kind }) => kind === 'Deployment');
    const { spec } = deployment.spec.template;
    const [container] = spec.containers;
    assert.equal(spec.securityContext.runAsNonRoot, true);
    assert.equal(spec.automountServiceAccountToken, false);
    assert.deepEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    assert.equal(container.image, 'registry.example.org/holdfast:0.1.0');
    assert.equal(container.readinessProbe.httpGet.path, '/readyz');
    assert.equal(container.livenessProbe.httpGet.path, '/healthz');
    const written = container.volumeMounts.filter(({ readOnly }: Manifest) => !readOnly);
    assert.deepEqual(
      written.map(({ mountPath }: Manifest) => mountPath),
      ['/var/lib/holdfast', '/tmp'],
    );
    const settings = new Map(container.env.map((one: Manifest) => [one.name, one]));
    assert.deepEqual(settings.get('DATABASE_URL'), {
      name: 'DATABASE_URL',
      valueFrom: { secretKeyRef: { name: 'holdfast-database', key: 'url' } },
    });
    assert.ok(!settings.has('HOLDFAST_MASTER_KEY'));
    const known = [...settings.keys()].filter((name) => String(name).startsWith('HOLDFAST_'));
    assert.deepEqual(
      known.filter((name) => !settingNames.includes(String(name))),
      [],
    );
  },
);

withGo.test('what is optional is left out, and everything is there when asked for', async () => {
  const kindsOf = async (values: Values) => (await manifestsOf(values)).map(({ kind }) => kind).sort();
  assert.deepEqual(await kindsOf(least), ['Deployment', 'PodDisruptionBudget', 'Service']);
  assert.deepEqual(await kindsOf({ ...least, replicas: 1 }), ['Deployment', 'Service']);
  assert.deepEqual(
    await kindsOf(everything),
    Object.keys(kinds)
      .map((kind) => kind.split(' ')[1])
      .sort(),
  );
  const [ingress] = (await manifestsOf(everything)).filter(({ kind }) => kind === 'Ingress');
  assert.equal(ingress.spec.rules[0].host, 'evidence.example.org');
  assert.deepEqual(ingress.spec.tls, [{ hosts: ['evidence.example.org'], secretName: 'evidence-tls' }]);
  const [deployment] = (await manifestsOf(everything)).filter(({ kind }) => kind === 'Deployment');
  const [container] = deployment.spec.template.spec.containers;
  assert.ok(
    container.volumeMounts.some(({ mountPath }: Manifest) => mountPath === '/var/lib/holdfast-files'),
  );
});

withGo.test('selectors find the pods', async () => {
  const manifests = await manifestsOf(everything);
  const [deployment] = manifests.filter(({ kind }) => kind === 'Deployment');
  const { labels } = deployment.spec.template.metadata;
  const selectors = manifests.map(({ kind, spec }) => ({
    kind,
    selector: kind === 'Service' ? spec.selector : (spec.selector ?? spec.podSelector)?.matchLabels,
  }));
  for (const { kind, selector } of selectors) {
    if (kind === 'Ingress') continue;
    assert.ok(Object.keys(selector).length >= 2, kind);
    // A ServiceMonitor selects the Service, which has the same labels.
    for (const [name, value] of Object.entries(selector)) assert.equal(labels[name], value, kind);
  }
});

withGo.test('what is missing is told in a sentence', () => {
  const without = (...path: string[]) => {
    const values = structuredClone(least);
    const last = path.pop() as string;
    delete path.reduce((at, name) => at[name], values)[last];
    return render(values).stderr;
  };
  assert.match(without('publicUrl'), /Set publicUrl to the address that clients use/);
  assert.match(without('trustProxy'), /Set trustProxy to the addresses/);
  assert.match(without('image', 'repository'), /Set image.repository to the image/);
  assert.match(without('database', 'secretName'), /Set database.secretName to a Secret/);
  assert.match(without('masterKey', 'secretName'), /Set masterKey.secretName to a Secret/);
  assert.match(without('blobs', 'url'), /Set blobs.url to a bucket, or blobs.existingClaim/);
  const monitored = { ...least, metrics: { serviceMonitor: { enabled: true } } };
  assert.match(render(monitored).stderr, /Set metrics.secretName/);
});

test('the schema takes what the chart takes, and no value that is misspelt', async () => {
  const schema = JSON.parse(await readFile(join(chart, 'values.schema.json'), 'utf8'));
  const validate = new Ajv({ strict: false }).compile(schema);
  for (const values of [defaults, merge(defaults, least), merge(defaults, everything)])
    assert.ok(validate(values), JSON.stringify(validate.errors));
  for (const values of [{ replica: 3 }, { blobs: { bucket: 's3://x' } }, { settings: { HOLDFAST_X: 5 } }])
    assert.ok(!validate(merge(defaults, values)), JSON.stringify(values));
  assert.deepEqual(
    Object.keys(schema.properties)
      .filter((name) => name !== 'global')
      .sort(),
    Object.keys(defaults).sort(),
  );
});

async function manifestsOf(given: Values): Promise<Manifest[]> {
  const { status, stdout, stderr } = render(given);
  assert.equal(status, 0, stderr);
  const files = JSON.parse(stdout) as Record<string, string>;
  assert.match(files['NOTES.txt'] ?? '', /rollout status deployment\/evidence-holdfast/);
  return Object.entries(files)
    .filter(([name, text]) => name.endsWith('.yaml') && text.trim() !== '')
    .map(([, text]) => parseYaml(text));
}

function render(given: Values): { status: number | null; stdout: string; stderr: string } {
  const input = JSON.stringify({
    Values: merge(defaults, given),
    Release: { Name: 'evidence', Namespace: 'evidence', Service: 'Helm' },
    Chart: { Name: 'holdfast', Version: '0.1.0', AppVersion: '0.1.0' },
  });
  return spawnSync(program, [chart], { input, encoding: 'utf8' });
}

/** As Helm does: maps are merged, anything else is replaced. */
function merge(into: Values, given: Values): Values {
  const merged: Values = { ...into };
  for (const [name, value] of Object.entries(given)) {
    const before = merged[name];
    const isMap = (one: unknown) => typeof one === 'object' && one !== null && !Array.isArray(one);
    merged[name] = isMap(before) && isMap(value) ? merge(before, value) : value;
  }
  return merged;
}

function kindOf({ apiVersion, kind }: Manifest): { module: string; type: string } {
  const found = kinds[`${apiVersion} ${kind}`];
  if (!found) throw new Error(`no schema for ${apiVersion} ${kind}`);
  return found;
}

/** What the type checker says: unlike the schemas, it also knows which fields there are not. */
async function typeFaults(manifests: Manifest[]): Promise<string> {
  const file = join(folder, 'manifests.ts');
  const lines = manifests.map((manifest, place) => {
    const { module, type } = kindOf(manifest);
    const from = JSON.stringify(join(root, 'node_modules', `${module}.js`));
    return `export const m${place}: import(${from}).I${type} = ${JSON.stringify(manifest)};`;
  });
  await writeFile(file, lines.join('\n'));
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--ignoreConfig',
    '--module',
    'nodenext',
    '--types',
    '',
  ];
  const { stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), [...options, file], { encoding: 'utf8' });
  return stdout;
}
