// Loads the settings once, at boot: gateway.yaml, the environment over it, every problem at once, the result frozen.
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { ZodError } from 'zod';
import type { Problem } from '../contract/tool/loaded-tools.ts';
import { keysAt } from '../lib/faults/schema-keys.ts';
import { didYouMean } from '../lib/text/did-you-mean.ts';
import { fallenOut } from '../lib/tools-yaml/fallen-out.ts';
import { authAlone } from './auth-alone.ts';
import { ENVIRONMENT, FOREIGN_VARIABLES, readVariable, SECRETS } from './environment.ts';
import { problemAt, readSource, type Environment, type Source } from './settings-source.ts';
import { contradictions } from './problems/contradictions.ts';
import { rightSections } from './problems/right-sections.ts';
import { sectionProblems } from './problems/section-problems.ts';
import { SettingsError } from './problems/settings-error.ts';
import type { VaultSettings } from './secrets-settings.ts';
import { toolsetProblems } from './toolsets/toolset-problems.ts';
import { settingsSchema, type Settings, type SettingsFile } from './settings-schema.ts';

export type { Environment } from './settings-source.ts';

const EXPECTED: { readonly [kind: string]: string } = { integer: 'an integer', count: 'an integer or auto' };
/** Where a variable is, as a problem of it has it. */
const IN_ENVIRONMENT = 'environment';
const DEFAULT_FILE = 'config/gateway.yaml';

/** Absolute path of gateway.yaml, whether there is one or not. */
export function settingsFile(env: Environment, cwd: string): string {
  return resolve(cwd, env['UTE_CONFIG'] ?? DEFAULT_FILE);
}

/**
 * Throws SettingsError. A missing config/gateway.yaml is all defaults; a missing UTE_CONFIG is an error. `text`: what gateway.yaml
 * says; left out: it is read.
 */
export function loadSettings(env: Environment, cwd: string, text?: string): Settings {
  const file = settingsFile(env, cwd);
  const source = readSource(file, env['UTE_CONFIG'] !== undefined, text);
  const problems: Problem[] = [...source.problems];
  const values = overlay(source.values, env, problems);
  const parsed = settingsSchema.safeParse(values);
  if (!parsed.success) problems.push(...problemsOf(parsed.error, values, source, env));
  for (const problem of toolsetProblems(values['toolsets'])) problems.push(problemAt(problem, source, env));
  const right = parsed.success ? { settings: parsed.data, wrong: [] } : rightSections(values);
  const wrong = new Set([...right.wrong, ...sectionsOf(problems)]);
  // Of a file that cannot be read nothing is known: the defaults contradict nobody.
  const found = source.problems.length > 0 ? [] : contradictions(right.settings, env, wrong);
  problems.push(...found.map((each) => problemAt(each, source, env)));
  if (problems.length > 0 || !parsed.success)
    throw new SettingsError(problems, { values, source }, authAlone(source.values, values));
  return deepFreeze(withAbsolutePaths(parsed.data, file, cwd));
}

/** Whose variables say what cannot be taken. */
function sectionsOf(problems: readonly Problem[]): readonly string[] {
  return problems
    .filter(({ file }) => file === IN_ENVIRONMENT)
    .flatMap(({ path = '' }) => ENVIRONMENT[path.replace(/_FILE$/, '')]?.path[0] ?? []);
}

function overlay(
  values: Record<string, unknown>,
  env: Environment,
  problems: Problem[],
): Record<string, unknown> {
  const merged = structuredClone(values);
  for (const [name, text] of Object.entries(withSecretsRead(env, problems))) {
    // Others are everybody's; those of ours that are of other names are in the table.
    const isOurs = name.startsWith('UTE_') || Object.hasOwn(ENVIRONMENT, name);
    if (!isOurs || text === undefined || FOREIGN_VARIABLES.has(name)) continue;
    const known = ENVIRONMENT[name];
    if (known === undefined) {
      const near = didYouMean(name, Object.keys(ENVIRONMENT));
      const message = `no such setting${near ? `; did you mean ${near}?` : ''}`;
      problems.push({ file: IN_ENVIRONMENT, path: name, message });
      continue;
    }
    const value = readVariable(known.kind, text);
    if (value === undefined) {
      problems.push({
        file: IN_ENVIRONMENT,
        path: name,
        message: `expected ${EXPECTED[known.kind] ?? 'true or false'}, found "${text}"`,
      });
      continue;
    }
    assign(merged, known.path, value);
  }
  return merged;
}

/** `UTE_DATABASE_URL_FILE` and the like give way to what their file holds. */
function withSecretsRead(env: Environment, problems: Problem[]): Environment {
  const read: Record<string, string | undefined> = { ...env };
  for (const name of SECRETS) {
    const variable = `${name}_FILE`;
    const path = env[variable];
    delete read[variable];
    if (path === undefined) continue;
    if (env[name] !== undefined) {
      problems.push({ file: IN_ENVIRONMENT, path: variable, message: `give this or ${name}, not both` });
      continue;
    }
    try {
      read[name] = readFileSync(path, 'utf8').trim();
    } catch (error) {
      problems.push({
        file: IN_ENVIRONMENT,
        path: variable,
        message: `cannot be read: ${(error as Error).message}`,
      });
    }
  }
  return read;
}

function assign(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [head = '', ...rest] = path;
  if (rest.length === 0) {
    target[head] = value;
    return;
  }
  const inner = target[head];
  const map = typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? inner : {};
  target[head] = map;
  assign(map as Record<string, unknown>, rest, value);
}

function problemsOf(error: ZodError, values: unknown, source: Source, env: Environment): Problem[] {
  const fallen = fallenOut(source.values, new Set(keysAt(settingsSchema, [])));
  const explained = new Set(fallen.flatMap(({ explains }) => explains));
  const others = zodProblems(error, values, source, env).filter(({ path = '' }) => !explained.has(path));
  const told = fallen.map(({ key, message }) => problemAt({ path: [key], message }, source, env));
  return [...told, ...others];
}

function zodProblems(error: ZodError, values: unknown, source: Source, env: Environment): Problem[] {
  return sectionProblems(error, { schema: settingsSchema, value: values }, source, env);
}

function withAbsolutePaths(file: SettingsFile, configFile: string, cwd: string): Settings {
  const configDir = dirname(configFile);
  const from = (path: string) => resolve(configDir, path);
  const dataDir = resolve(cwd, file.data_dir);
  return {
    ...file,
    configDir,
    configFile,
    data_dir: dataDir,
    own_dir: dataDir,
    tls: file.tls && {
      cert_file: from(file.tls.cert_file),
      key_file: from(file.tls.key_file),
      client_ca_file: file.tls.client_ca_file && from(file.tls.client_ca_file),
    },
    database: { ...file.database, ssl_ca_file: file.database.ssl_ca_file && from(file.database.ssl_ca_file) },
    redis: { ...file.redis, tls: file.redis.tls && withRedisPaths(file.redis.tls, from) },
    audit: {
      ...file.audit,
      checkpoint_key_file: file.audit.checkpoint_key_file && from(file.audit.checkpoint_key_file),
      checkpoint_file: file.audit.checkpoint_file && from(file.audit.checkpoint_file),
    },
    secrets: { ...file.secrets, vault: file.secrets.vault && withVaultPaths(file.secrets.vault, from) },
    replay: file.replay && { ...file.replay, file: from(file.replay.file) },
    custom_executors: file.custom_executors.map((entry) => ({ ...entry, path: from(entry.path) })),
    custom_extensions: file.custom_extensions.map((entry) => ({ ...entry, path: from(entry.path) })),
  };
}

type RedisTls = NonNullable<SettingsFile['redis']['tls']>;

function withRedisPaths(tls: RedisTls, from: (path: string) => string): RedisTls {
  const { ca_file: ca, cert_file: cert, key_file: key } = tls;
  return { ca_file: ca && from(ca), cert_file: cert && from(cert), key_file: key && from(key) };
}

function withVaultPaths(vault: VaultSettings, from: (path: string) => string): VaultSettings {
  const { token_file: file, approle, kubernetes } = vault;
  const { secret_id_file: secret } = approle ?? {};
  return {
    ...vault,
    ...(file !== undefined && { token_file: from(file) }),
    ...(approle !== undefined &&
      secret !== undefined && { approle: { ...approle, secret_id_file: from(secret) } }),
    ...(kubernetes !== undefined && { kubernetes: { ...kubernetes, jwt_file: from(kubernetes.jwt_file) } }),
  };
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
