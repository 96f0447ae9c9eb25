// What every loader keeps, over a real source, as the registry asks it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Loader } from '../../src/contract/plugin.ts';
import { yamlFileLoader } from '../../src/loaders/yaml-file/index.ts';
import { document, httpTool } from '../helpers/http-loader-kit.ts';
import { RegistryBench, type BenchNeeds } from '../helpers/registry-bench.ts';
import { removeDir, tempDir } from '../helpers/temp-tools.ts';

export interface SourcePlace {
  readonly file: string;
  readonly line?: number;
  readonly path?: string;
}

export interface LoaderHarness {
  /** A loader of its own over the source, as one entry of gateway.yaml makes it. */
  open(needs: BenchNeeds): Loader;
  /** What problems and warnings of the source as a whole name. */
  readonly source: string;
  /** Where the tool of this name stands while it is offered. */
  placeOf(name: string): SourcePlace;
  /** `warned`: its tools stay, with a warning. `refused`: it is part of this machine, and that it is missing is a mistake. */
  readonly whenAway: 'warned' | 'refused';
  /** The source is there, well, and holds tools of these names. */
  offer(...names: string[]): Promise<void> | void;
  /** Puts there what is wrong in two places at least, and says where. */
  spoil(): Promise<readonly SourcePlace[]> | readonly SourcePlace[];
  goAway(): Promise<void> | void;
  /** The source takes what it is asked, and does not answer. */
  hang(): Promise<void> | void;
  /** Settles when a load waits for the source that hangs. */
  asked(): Promise<unknown>;
  /** A secret that the entry refers to, or that the gateway's environment holds, in the source's sight where it sees one. */
  readonly secret: string;
  /** Processes, connections and watches that the loader holds open. */
  held(bench: RegistryBench): number;
  close(): Promise<void> | void;
}

const SOON = { timeout: 20_000, interval: 25 };

export function describeLoader(name: string, factory: () => Promise<LoaderHarness>): void {
  describe(`loader: ${name}`, () => {
    let harness: LoaderHarness;
    let bench: RegistryBench;

    beforeAll(async () => {
      harness = await factory();
    });
    afterAll(() => harness?.close());
    beforeEach(async () => {
      await harness.offer('one', 'two');
      bench = opened();
    });
    afterEach(() => bench.stop());

    const type = name.split(':', 1)[0] ?? name;
    const opened = (...beside: Loader[]) =>
      new RegistryBench(type, (needs) => harness.open(needs), ...beside);

    async function started(): Promise<void> {
      expect((await bench.start())?.problems).toBeUndefined();
      expect(bench.names()).toEqual(['one', 'two']);
    }

    /** What was told of a load that the source kept from being whole: its tools are all there. */
    async function toldAfterReload(): Promise<readonly SourcePlace[]> {
      const { ok, problems, warnings } = await bench.sync.reload();
      expect(bench.names()).toEqual(['one', 'two']);
      expect(ok).toBe(problems.length === 0);
      return [...problems, ...warnings];
    }

    it('a source that is away takes no tools away and is named; when it is back, what it has then is taken', async () => {
      await started();
      await harness.goAway();
      const told = await toldAfterReload();
      expect(new Set(told.map(({ file }) => file))).toEqual(new Set([harness.source]));
      const { ok } = bench.sync.status();
      expect(ok).toBe(harness.whenAway === 'warned');
      expect(bench.metrics.value('ute_degraded{tools}')).toBe(ok ? 1 : 0);
      const stale = () => bench.metrics.value(`ute_loader_source_stale{${type},${harness.source}}`);
      expect(stale()).toBe(ok ? 1 : 0);
      await harness.offer('two', 'three');
      expect(await bench.sync.reload()).toMatchObject({ ok: true, problems: [], warnings: [] });
      expect(bench.metrics.value('ute_degraded{tools}')).toBe(0);
      expect(stale()).toBe(0);
    });

    it('a source that is away at the first start is a problem that names it', async () => {
      await harness.goAway();
      const problems = (await bench.start())?.problems ?? [];
      expect(problems.map(({ file }) => file)).toEqual([harness.source]);
      expect(problems[0]?.message).toMatch(/\w/);
    });

    it('what is wrong is refused with each of its places, all at once, and the tools before it stay', async () => {
      await started();
      const places = await harness.spoil();
      const told = await toldAfterReload();
      expect(places.length).toBeGreaterThan(1);
      for (const place of places) expect(told).toContainEqual(expect.objectContaining(place));
      expect(bench.sync.status().ok).toBe(false);
      await harness.offer('one', 'two');
      expect(await bench.sync.reload()).toMatchObject({ ok: true, problems: [] });
    });

    it('a tool that the source has no more is gone', async () => {
      await started();
      await harness.offer('two');
      expect(await bench.sync.reload()).toMatchObject({ ok: true });
      expect(bench.names()).toEqual(['two']);
    });

    it('a name that another source has too is refused, with both places, whichever comes first', async () => {
      const dir = tempDir();
      const file = join(dir, 'tools.yaml');
      writeFileSync(file, document(httpTool('two')));
      const beside = (needs: BenchNeeds) =>
        yamlFileLoader.create({ ...needs, configDir: dir })({ paths: [file] });
      const others = [
        new RegistryBench(type, (needs) => harness.open(needs), beside(bench)),
        new RegistryBench('yaml-file', beside, harness.open(bench)),
      ];
      const here = harness.placeOf('two');
      const there: SourcePlace = { file, line: 2 };
      const told = [];
      for (const each of others) {
        const problems = (await each.start())?.problems ?? [];
        await each.stop();
        told.push(...problems.filter(({ message }) => message.includes('taken already')));
      }
      removeDir(dir);
      const textOf = ({ file: at, line = 1 }: SourcePlace) => `"two" in ${at}:${line}`;
      expect(told).toEqual([
        expect.objectContaining({ ...there, tool: 'two', message: expect.stringContaining(textOf(here)) }),
        expect.objectContaining({ ...here, tool: 'two', message: expect.stringContaining(textOf(there)) }),
      ]);
    });

    it('an abort ends a load that waits for its source', async () => {
      await harness.hang();
      const ending = new AbortController();
      const loading = bench.loader.load(ending.signal).catch((error: unknown) => error);
      await harness.asked();
      const reason = new Error('called off');
      ending.abort(reason);
      expect(await loading).toBe(reason);
      await bench.loader.close?.();
      await expect.poll(() => harness.held(bench), SOON).toBe(0);
    });

    it('no secret of its entry is in a status, a line of the log or a series, whatever the source does', async () => {
      await bench.start();
      const heard: string[] = [];
      for (const trouble of [() => harness.goAway(), () => harness.spoil()]) {
        await trouble();
        await bench.sync.reload();
        const error: unknown = await bench.loader
          .load(new AbortController().signal)
          .then(({ problems }) => problems)
          .catch((thrown: unknown) => (thrown instanceof Error ? thrown.message : thrown));
        heard.push(inspect(error, { depth: Infinity }), await bench.told());
        await harness.offer('one');
        await bench.sync.reload();
      }
      expect(bench.names()).toEqual(['one']);
      expect(heard.join('\n')).toContain(harness.source);
      expect(heard.join('\n')).not.toContain(harness.secret);
    });

    it('closed, it leaves no timer, no process and no connection', async () => {
      await started();
      await harness.goAway();
      await bench.sync.reload();
      await bench.stop();
      expect(bench.clock.pending).toBe(0);
      await expect.poll(() => harness.held(bench), SOON).toBe(0);
    });
  });
}
