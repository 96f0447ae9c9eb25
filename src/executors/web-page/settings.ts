// What gateway.yaml may say for every web-page tool: the section `executors.web-page`.
import { z } from 'zod';
import { egressFields } from '../../lib/egress/egress.ts';
import { camelKeys } from '../../lib/settings/camel-keys.ts';
import { whole } from '../../lib/settings/whole.ts';

const hosts = egressFields.allow_hosts.unwrap();

const fields = {
  allow_hosts: hosts
    .optional()
    .describe('The only hosts that pages are fetched from, whatever a tool says. All when left out.'),
  deny_hosts: hosts.optional().describe('Hosts that no page is fetched from, nor by a redirect.'),
  allow_ports: egressFields.allow_ports,
  allow_private: egressFields.allow_private,
  user_agent: z
    .string()
    .regex(/^[A-Za-z][A-Za-z_-]{0,63}(?:\/[\x21-\x7e]+)?(?: [\x20-\x7e]*)?$/, {
      error:
        'Expected a product such as "example-bot/1.0 (+https://example.com/bot)": letters, "-" and "_" first.',
    })
    .max(200)
    .default('unified-tool-executor')
    .describe('Sent with every request. Its first word, up to "/", is what robots.txt knows it by.'),
  workers: whole(1, 16)
    .default(2)
    .describe(
      'Threads that read pages for one tenant at one time, started when they are needed; one more is kept for a tenant that holds none.',
    ),
  max_queue: whole(0, 10_000)
    .default(100)
    .describe(
      'Pages of one tenant that may wait for a thread while no other tenant’s do; of all tenants, twice as many.',
    ),
  max_memory_mb: whole(64, 1_024)
    .default(256)
    .describe('Memory of one thread in MiB. A page that takes more ends it.'),
  max_work_ms: whole(100, 60_000)
    .default(4_000)
    .describe('Time on a processor that one page may take to be read. One that takes more ends its thread.'),
};

export function pageSettingsSchema() {
  return z
    .strictObject(fields)
    .transform(({ allow_hosts, deny_hosts = [], allow_ports = [], allow_private = [], ...said }) => ({
      ...camelKeys(said),
      allowHosts: allow_hosts,
      denyHosts: deny_hosts,
      allowPorts: allow_ports,
      allowPrivate: allow_private,
    }));
}

export type PageSettings = z.output<ReturnType<typeof pageSettingsSchema>>;
