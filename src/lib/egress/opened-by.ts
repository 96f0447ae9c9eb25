// What a setting opens beyond what is public: only gateway.yaml and files beside it may say so, no document from elsewhere.
import { opensPort } from './egress.ts';

/** Undefined: the setting opens nothing. */
export function openedBy(setting: string, value: unknown): string | undefined {
  if (setting === 'allow_private') return 'private addresses';
  if (setting === 'allow_ports') return 'ports';
  const hosts: readonly unknown[] = setting === 'allow_hosts' && Array.isArray(value) ? value : [];
  return hosts.some((host) => typeof host === 'string' && opensPort(host)) ? 'ports' : undefined;
}
