// An openapi loader over documents of a test's own, and the tools it makes: checked by the registry, called for real.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../src/contract/json.ts';
import type { LoadedTools } from '../../src/contract/tool/loaded-tools.ts';
import { httpConnectionSchema } from '../../src/executors/http/connection-schema.ts';
import { httpExecutor } from '../../src/executors/http/index.ts';
import type { HttpOptions } from '../../src/executors/http/options-schema.ts';
import type { PreparedFunction } from '../../src/contract/plugin.ts';
import { functionsOf } from '../../src/contract/tool/tool-function.ts';
import { UndiciHttpClient } from '../../src/infra/http/undici-http-client.ts';
import { openApiLoader } from '../../src/loaders/openapi/index.ts';
import { optionsSchema } from '../../src/loaders/openapi/options.ts';
import type { HttpClient } from '../../src/ports/egress/http-client.ts';
import { specRules } from '../../src/app/gateway/registry-rules.ts';
import { validateLoaded, type ValidatedTools } from '../../src/registry/checks/spec-validation.ts';
import { callOf } from './call-kit.ts';
import { RecordingLog, realClock } from './python-ports.ts';
import { removeDir, tempDir } from './temp-tools.ts';

/** Whoever asks it for anything has followed what must not be followed. */
export const NO_HTTP: HttpClient = {
  request: () => Promise.reject(new Error('a request was sent')),
  fetch: () => {
    throw new Error('a request was sent');
  },
  close: async () => {},
};

export class OpenApiBench {
  readonly dir = tempDir();
  readonly log = new RecordingLog();
  readonly http = new UndiciHttpClient();

  async close(): Promise<void> {
    await this.http.close();
    removeDir(this.dir);
  }

  loader(options: JsonObject, http: HttpClient = NO_HTTP) {
    const needs = { http, clock: realClock, log: this.log, configDir: this.dir };
    return openApiLoader.create(needs)(optionsSchema.parse(options));
  }

  /** Text is written as it is. */
  async load(document: object | string, options: JsonObject = {}): Promise<LoadedTools> {
    const text = typeof document === 'string' ? document : JSON.stringify(document, undefined, 1);
    writeFileSync(join(this.dir, 'api.json'), text);
    return this.loader({ document: 'api.json', ...options }).load(new AbortController().signal);
  }

  /** The operations that were left out, by method and path: why. */
  leftOut(): ReadonlyMap<string, string> {
    const lines = this.log.lines.filter(({ message }) => message === 'an operation was left out');
    return new Map(
      lines.map(({ fields }) => [
        String(fields['operation']),
        `${String(fields['place'])}: ${String(fields['reason'])}`,
      ]),
    );
  }

  /** As the registry takes them: throws at the first problem. */
  checked(loaded: LoadedTools): ValidatedTools {
    const validated = validateLoaded([loaded], specRules());
    const [problem] = validated.problems;
    if (problem !== undefined) throw new Error(`${problem.tool}: ${problem.path}: ${problem.message}`);
    return validated;
  }

  /** Every function, built by the http executor; `connection` is what the tools name. */
  async prepared(
    loaded: LoadedTools,
    connection?: JsonObject,
  ): Promise<ReadonlyMap<string, PreparedFunction>> {
    const settings = { allowPrivate: ['127.0.0.0/8'], allowPorts: ['1-65535'] };
    const executor = httpExecutor.create({ http: this.http, clock: realClock, settings });
    const prepared = new Map<string, PreparedFunction>();
    // A connection alone has no tools: the registry would miss it.
    for (const { spec, options } of validateLoaded([{ ...loaded, problems: [] }], specRules()).tools) {
      for (const fn of functionsOf(spec)) {
        const target = { function: fn, options: options as HttpOptions };
        const made = connection && {
          name: 'api',
          type: 'http',
          settings: httpConnectionSchema.parse(connection),
        };
        prepared.set(fn.name, await executor.prepare({ ...target, ...(made && { connection: made }) }));
      }
    }
    return prepared;
  }

  async call(loaded: LoadedTools, tool: string, args: JsonObject, connection?: JsonObject): Promise<unknown> {
    const prepared = (await this.prepared(loaded, connection)).get(tool);
    if (prepared === undefined) throw new Error(`there is no tool ${tool}`);
    const call = callOf({ arguments: args, signal: AbortSignal.timeout(10_000) });
    return (await prepared.execute(call, () => {})).data;
  }
}

/** A document of 3.0 around some paths. */
export function documentOf(paths: object, more: object = {}): object {
  return {
    openapi: '3.0.3',
    info: { title: 'T', version: '1' },
    servers: [{ url: 'https://api.example.com' }],
    paths,
    ...more,
  };
}

export function toolNames({ tools }: LoadedTools): readonly string[] {
  return tools.map(({ value }) => (value as { name: string }).name);
}

export function toolNamed({ tools }: LoadedTools, name: string): JsonObject {
  const found = tools.find(({ value }) => (value as JsonObject)['name'] === name);
  if (found === undefined) throw new Error(`there is no tool ${name}`);
  return found.value as JsonObject;
}
