// Ports that may be reached: those of http and https, unless the operator lists others.
import { z } from 'zod';
import { whole } from '../settings/whole.ts';

/** A port, or a range of them such as "8000-8999". */
export type PortRule = number | string;

export const WEB_PORTS: readonly number[] = [80, 443];
const MAX_PORT = 65_535;

export const portRules = z.array(
  z.union([whole(1, MAX_PORT), z.string()]).superRefine((rule, context) => {
    if (rangeOf(rule) !== undefined) return;
    const message = `Expected a port from 1 to ${MAX_PORT}, or a range such as "8000-8999"; found "${rule}".`;
    context.addIssue({ code: 'custom', message });
  }),
);

export const allowPorts = portRules
  .optional()
  .describe('Ports that may be reached besides 80 and 443: 8443, or a range such as "8000-8999".');

/** `usual`: those that need not be listed. */
export function isPortAllowed(
  rules: readonly PortRule[],
  port: number,
  usual: readonly number[] = WEB_PORTS,
): boolean {
  return usual.includes(port) || rules.some((rule) => holds(rangeOf(rule), port));
}

/** Of an http or https URL; 0 is no port. */
export function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

function rangeOf(rule: PortRule): readonly [number, number] | undefined {
  const [, from = '', to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(String(rule)) ?? [];
  const range = [Number(from), Number(to)] as const;
  return range[0] >= 1 && range[0] <= range[1] && range[1] <= MAX_PORT ? range : undefined;
}

function holds(range: readonly [number, number] | undefined, port: number): boolean {
  return range !== undefined && port >= range[0] && port <= range[1];
}
