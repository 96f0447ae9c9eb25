// A copy of this checkout that a test may write into: all that is there but packages, which are shared, data and history.
import { cpSync, readdirSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const LEFT_OUT = ['.git', 'data', 'node_modules'];

/** `folder`: not there yet. What is built comes along, and counts as built. */
export function copyCheckout(folder: string): void {
  const entries = readdirSync(ROOT).filter((name) => !LEFT_OUT.includes(name));
  for (const name of entries) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
}
