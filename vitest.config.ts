// Nine projects: unit specs beside their source (fast, no processes), everything under test/ (real parts) in two, of which one has a
// process for each file, and six that install packages and run by themselves: test/deploy (`npm run test:deploy`), which needs
// programs that nothing else does, test/upgrade (`npm run test:upgrade`), which needs the git history, test/servers
// (`npm run test:servers`), test/sdk (`npm run test:sdk`), test/clients (`npm run test:clients`) and test/corpus (`npm run test:corpus`).
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/helpers/longest-first.ts';
import { OWN_PROCESS } from './test/helpers/own-process.ts';

/** Property tests run on a seed of their own, alike on every run; FC_SEED=<number> looks elsewhere. */
const setupFiles = ['test/helpers/property-seed.ts'];

/**
 * Threads that are started from source have Node strip their types, with WebAssembly that calls JavaScript more than a thousand times:
 * V8 then compiles those calls and frees what it compiled for threads before, some of it twice, which ended one process a suite by
 * a signal (V8 13.6, WasmImportWrapperCache::Free; Node 24.21). What is published is JavaScript and strips nothing.
 */
const execArgv = ['--wasm-wrapper-tiering-budget=2147483647'];

/** Of suites over real parts, each project of them. */
const SUITE = {
  globalSetup: ['test/helpers/needed-programs.ts', 'test/helpers/make-cluster.ts'],
  setupFiles,
  // A busy machine takes seconds for what takes milliseconds elsewhere, and minutes for what takes half of one.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 20_000 } },
};

export default defineConfig({
  test: {
    execArgv,
    // Suites wait for processes, sockets and leases most of the time: each takes two fifths of a core.
    maxWorkers: 5,
    sequence: { sequencer: LongestFirst },
    // Specs keep nothing in modules, nor do most suites, so they may share them: a third of the time.
    projects: [
      {
        test: {
          name: 'unit',
          setupFiles,
          isolate: false,
          include: ['src/**/*.spec.ts', 'sdk/typescript/src/**/*.spec.ts'],
          testTimeout: 120_000,
        },
      },
      {
        test: {
          ...SUITE,
          name: 'alone',
          include: [...OWN_PROCESS],
        },
      },
      {
        test: {
          ...SUITE,
          name: 'suites',
          isolate: false,
          include: ['test/**/*.test.ts'],
          exclude: [
            ...OWN_PROCESS,
            ...['clients', 'corpus', 'deploy', 'sdk', 'servers', 'upgrade'].map((dir) => `test/${dir}/**`),
          ],
        },
      },
      {
        test: {
          name: 'servers',
          setupFiles,
          include: ['test/servers/**/*.test.ts'],
          // Installing takes the network and one core each.
          maxConcurrency: 3,
          testTimeout: 300_000,
        },
      },
      {
        test: {
          name: 'sdk',
          globalSetup: ['test/helpers/needed-programs.ts', 'test/helpers/make-cluster.ts'],
          setupFiles,
          include: ['test/sdk/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 300_000,
          expect: { poll: { timeout: 20_000 } },
        },
      },
      {
        test: {
          name: 'clients',
          setupFiles,
          include: ['test/clients/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 200_000,
        },
      },
      {
        test: {
          name: 'corpus',
          setupFiles,
          include: ['test/corpus/**/*.test.ts'],
          // The memory that a load takes is told after what is garbage has gone.
          execArgv: [...execArgv, '--expose-gc'],
          testTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'deploy',
          globalSetup: ['test/helpers/needed-programs.ts', 'test/helpers/make-cluster.ts'],
          setupFiles,
          include: ['test/deploy/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 400_000,
        },
      },
      {
        test: {
          name: 'upgrade',
          globalSetup: ['test/helpers/needed-programs.ts', 'test/helpers/make-cluster.ts'],
          setupFiles,
          include: ['test/upgrade/**/*.test.ts'],
          testTimeout: 120_000,
        },
      },
    ],
  },
});
