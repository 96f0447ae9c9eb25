// The Helm chart as tests see it: linted and rendered by helm, its objects held against Kubernetes' schemas.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { PROGRAMS } from './programs/build.js';

const CHART = resolve(import.meta.dirname, '../../deploy/helm/unified-tool-executor');

export type Values = Readonly<Record<string, unknown>>;

export interface KubernetesObject {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
  };
  // What it is depends on its kind; a test names what it looks at.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly [field: string]: any;
}

export const HELMS = ['helm3', 'helm4'] as const;
export type Helm = (typeof HELMS)[number];

export interface Told {
  readonly exitCode: number | null;
  readonly output: string;
}

export function needPrograms(): void {
  if (!existsSync(PROGRAMS))
    throw new Error('run `npm run test:deploy`, or `node test/deploy/programs/build.js` first');
}

function withFile<T>(values: Values, use: (file: string) => T): T {
  const dir = mkdtempSync(join(tmpdir(), 'ute-chart-'));
  const file = join(dir, 'values.yaml');
  writeFileSync(file, stringify(values));
  try {
    return use(file);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function helm(program: Helm, args: readonly string[], values: Values): Told & { readonly stdout: string } {
  return withFile(values, (file) => {
    const { status, stdout, stderr } = spawnSync(join(PROGRAMS, program), [...args, '--values', file], {
      encoding: 'utf8',
      maxBuffer: 64 << 20,
    });
    return { exitCode: status, stdout, output: stdout + stderr };
  });
}

export const lint = (program: Helm, values: Values): Told =>
  helm(program, ['lint', CHART, '--strict', '--kube-version', '1.34.0'], values);

type Rendered = ReturnType<typeof helm>;
const rendered = new Map<string, Rendered>();

/** What `helm template` says, the objects as text. The same values are rendered once. */
export function template(program: Helm, values: Values): Rendered {
  const key = JSON.stringify([program, values]);
  const args = ['template', 'ute', CHART, '--namespace', 'tools', '--kube-version', '1.34.0'];
  const found = rendered.get(key) ?? helm(program, args, values);
  rendered.set(key, found);
  return found;
}

/** What is said to whoever installs it. */
export const notesOf = (values: Values): string =>
  helm('helm4', ['install', 'ute', CHART, '--namespace', 'tools', '--dry-run=client'], values).stdout.split(
    '\nNOTES:\n',
  )[1] ?? '';

/** Throws Error with what helm says where it does not render. */
export function objectsOf(values: Values): readonly KubernetesObject[] {
  const { exitCode, stdout, output } = template('helm4', values);
  if (exitCode !== 0) throw new Error(output);
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as KubernetesObject | null)
    .filter((object) => object !== null);
}

/** Every fault that the schemas find in rendered objects, kinds without a schema among them. */
export function conform(rendered: string): Told {
  const location = join(PROGRAMS, 'schemas', '{{.ResourceKind}}{{.KindSuffix}}.json');
  try {
    const args = ['-strict', '-schema-location', location];
    return {
      exitCode: 0,
      output: execFileSync(join(PROGRAMS, 'kubeconform'), args, { input: rendered, encoding: 'utf8' }),
    };
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: string };
    return { exitCode: status, output: stdout };
  }
}
