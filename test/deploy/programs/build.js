// Builds the programs that hold the Helm chart against Helm and Kubernetes, the compose file against what reads it in docker compose, and
// dashboards against Grafana: helm (3 and 4), kubeconform, compose-go and one of our own over Grafana's types, from the Go modules that go.mod and go.sum pin, and schemas from the module k8s.io/kubernetes. Once for each set of versions; kept outside the
// checkout. `node test/deploy/programs/build.js`; the path of what it made is `PROGRAMS`.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { writeSchemas } from './kubernetes-schemas.js';

const HERE = import.meta.dirname;
const CRDS = join(HERE, '../../fixtures/deploy/crds');
/** Its go.mod cannot be required by another module: so it is pinned here, by the same hash that go.sum would have. */
const KUBERNETES = { version: 'v1.37.2', sum: 'h1:A2VDEiObzkYqFTKhSsn0ZEb0RlLEXpHWj93gi2HqEwE=' };
const BUILT = {
  helm3: 'helm.sh/helm/v3/cmd/helm',
  helm4: 'helm.sh/helm/v4/cmd/helm',
  kubeconform: 'github.com/yannh/kubeconform/cmd/kubeconform',
  compose: 'github.com/compose-spec/compose-go/v2/cmd',
  dashboards: './dashboards',
};
/** Other work goes on beside it. */
const AT_ONCE = '2';
const BUILD_WITHIN_MS = 1_500_000;

const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
export const PROGRAMS = join(cache, 'unified-tool-executor', `deploy-programs-${hashOf(inputs())}`);

function inputs() {
  const own = ['go.mod', 'go.sum', 'build.js', 'kubernetes-schemas.js', 'dashboards/main.go'];
  const files = own.map((name) => join(HERE, name));
  return [...files, ...['prometheusrules', 'servicemonitors'].map((name) => join(CRDS, `${name}.yaml`))];
}

function hashOf(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(file)).update('\0');
  return hash.digest('hex').slice(0, 16);
}

function findGo() {
  for (const program of ['go', '/usr/local/go/bin/go']) {
    try {
      execFileSync(program, ['version'], { stdio: 'ignore' });
      return program;
    } catch {}
  }
  throw new Error(
    'the chart and the dashboards are tested with programs of Go: install Go 1.26 or newer, as `go` or /usr/local/go/bin/go',
  );
}

function build() {
  const go = findGo();
  mkdirSync(dirname(PROGRAMS), { recursive: true });
  const unfinished = mkdtempSync(`${PROGRAMS}-`);
  try {
    for (const [name, from] of Object.entries(BUILT)) {
      process.stdout.write(`building ${name}\n`);
      // What go.sum does not know is refused.
      const flags = ['-mod=readonly', '-trimpath', '-buildvcs=false', '-p', AT_ONCE, '-ldflags', '-s -w'];
      run(go, ['build', ...flags, '-o', join(unfinished, name), from]);
    }
    writeSchemas({ openApi: openApiOf(go), crds: CRDS, out: join(unfinished, 'schemas') });
    renameSync(unfinished, PROGRAMS);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

function openApiOf(go) {
  const told = JSON.parse(run(go, ['mod', 'download', '-json', `k8s.io/kubernetes@${KUBERNETES.version}`]));
  if (told.Sum !== KUBERNETES.sum)
    throw new Error(`k8s.io/kubernetes is another one than before: ${told.Sum}`);
  return join(told.Dir, 'api/openapi-spec/swagger.json');
}

function run(program, args) {
  return execFileSync(program, args, {
    cwd: HERE,
    env: { ...process.env, CGO_ENABLED: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: BUILD_WITHIN_MS,
  }).toString();
}

if (process.argv[1] === import.meta.filename && !existsSync(PROGRAMS)) build();
