#!/usr/bin/env -S node --expose-gc --max-semi-space-size=64 --gc-memory-reducer-start-delay-ms=300000
// The executable behind `unified-tool-executor`: serves the gateway of the current folder; where there is none, the demo of
// this package. Kept to what Node 12 can read: main.ts says what Node it needs.
import { existsSync } from 'fs';
import { fileURLToPath } from 'url';

const OWN = 'config/gateway.yaml';
const isAsked = process.argv.length > 2;

if (!isAsked && process.env['UTE_CONFIG'] === undefined && !existsSync(OWN)) {
  const demo = fileURLToPath(new URL('../../../config/gateway.yaml', import.meta.url));
  process.env['UTE_CONFIG'] = demo;
  process.stderr.write(
    `There is no ${OWN} here, so this serves the demo, ${demo}. Its records are in ./data; UTE_CONFIG names another file.\n`,
  );
}

// The bundle lies beside what is compiled, and is no module of the source.
void import(new URL('../../bundle/main.js', import.meta.url).href);
