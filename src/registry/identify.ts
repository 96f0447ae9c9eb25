// Makes functions tell what runs when they are called: the declaration and what it stands on. Nothing is read before somebody asks.
import { hash, scrypt } from 'node:crypto';
import type { JsonObject } from '../contract/json.ts';
import type { Connection, PreparedFunction } from '../contract/plugin.ts';
import type { KnownTools, ToolFunction, WhatRuns } from '../contract/tool/tool-function.ts';
import { canonicalHash } from '../lib/json/canonical-json.ts';

const HASH_BYTES = 32;
const NO_TOOLS: readonly string[] = [];

/** `preparedAt` is asked once the functions have been prepared. */
export function identify(
  functions: readonly ToolFunction[],
  preparedAt: (index: number) => PreparedFunction | undefined,
  connection: Connection | undefined,
): readonly ToolFunction[] {
  let connectionHash: Promise<string> | undefined;
  const over = () => (connectionHash ??= hashOfConnection(connection));
  const known = new Map<ToolFunction, ToolFunction>();
  for (const [index, fn] of functions.entries()) {
    if (fn.byAction !== undefined) continue;
    const prepared = () => preparedAt(index);
    const callsOf = (args: JsonObject) => prepared()?.callsOf?.(args) ?? NO_TOOLS;
    known.set(fn, { ...fn, whatRuns: whatRunsOf(fn, prepared, over), callsOf });
  }
  return functions.map((fn) => {
    if (fn.byAction === undefined) return known.get(fn) ?? fn;
    const byAction = new Map([...fn.byAction].map(([name, target]) => [name, known.get(target) ?? target]));
    return { ...fn, byAction };
  });
}

function whatRunsOf(
  { name, spec }: ToolFunction,
  prepared: () => PreparedFunction | undefined,
  connectionHash: () => Promise<string>,
): WhatRuns {
  return async (tools, seen = new Set()) => {
    if (seen.has(name)) return spec.contentHash;
    seen.add(name);
    const ready = prepared();
    const content = ready?.contentHash === undefined ? '' : await ready.contentHash();
    if (content === undefined) return undefined;
    const steps: string[] = [];
    // One after the other: which of two equal steps is the first to be seen is the same each time.
    for (const tool of ready?.calls ?? []) {
      const step = await hashOfStep(tool, tools, seen);
      if (step === undefined) return undefined;
      steps.push(step);
    }
    return hash('sha256', JSON.stringify([spec.contentHash, await connectionHash(), content, steps]));
  };
}

async function hashOfStep(tool: string, tools: KnownTools, seen: Set<string>): Promise<string | undefined> {
  const fn = tools.find(tool)?.function;
  if (fn === undefined) return '';
  return fn.whatRuns === undefined ? fn.spec.contentHash : fn.whatRuns(tools, seen);
}

/**
 * Slow on purpose: it is kept with approvals, and a password that is part of the connection could be guessed from a quick
 * one. The same on every replica.
 */
function hashOfConnection(connection: Connection | undefined): Promise<string> {
  if (connection === undefined) return Promise.resolve('');
  const { name, type, settings } = connection;
  return new Promise((resolve, reject) => {
    scrypt(canonicalHash([type, settings]), `connection ${name}`, HASH_BYTES, (error, key) => {
      if (error === null) resolve(key.toString('hex'));
      else reject(error);
    });
  });
}
