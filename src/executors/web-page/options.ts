// Options: what implementation_config of a web-page tool may say.
import { z } from 'zod';
import { egressFields } from '../../lib/egress/egress.ts';
import { whole } from '../../lib/settings/whole.ts';

const MIB = 1024 * 1024;

export const optionsSchema = z.strictObject({
  allow_hosts: egressFields.allow_hosts
    .unwrap()
    .optional()
    .describe(
      'Hosts that pages may be fetched from: "docs.example.com" or "*.example.com". Any public one when left out.',
    ),
  allow_ports: egressFields.allow_ports,
  allow_private: egressFields.allow_private,
  robots: z
    .enum(['honour', 'ignore'])
    .default('honour')
    .describe("Whether a site's robots.txt is asked first, and obeyed (RFC 9309)."),
  max_bytes: whole(1_024, 16 * MIB)
    .default(4 * MIB)
    .describe('Largest page, as it is sent and as it unpacks.'),
  max_redirects: whole(0, 10)
    .default(5)
    .describe('Redirects that are followed, each one guarded as the first request is.'),
  max_characters: whole(100, 200_000)
    .default(20_000)
    .describe(
      'Of the text that one call answers with, where it asks for no fewer. The rest is there by `offset`.',
    ),
});

export type PageOptions = z.output<typeof optionsSchema>;
