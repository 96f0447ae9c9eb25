// What gateway.yaml may say about embeddings: the service that turns texts into vectors for statements of sql tools.
import { z } from 'zod';
import { egressFault, egressFields, egressOf } from '../lib/egress/egress.ts';
import { isHeaderValue } from '../lib/text/header-rules.ts';
import { whole } from '../lib/settings/whole.ts';

export const embeddings = z
  .strictObject({
    url: z
      .string()
      .max(2_048)
      .refine(isServiceUrl, 'must be an https or http URL without user, password and fragment')
      .describe(
        'Takes what OpenAI’s embeddings take: https://api.openai.com/v1/embeddings, http://127.0.0.1:11434/v1/embeddings.',
      ),
    allow_http: z
      .boolean()
      .default(false)
      .describe('Also http beyond loopback: texts and the key go over the network in the clear.'),
    model: z
      .string()
      .min(1)
      .max(256)
      .describe('Sent along; vectors of another model are compared with none.'),
    api_key: z
      .string()
      .min(1)
      .max(4_096)
      .refine(isHeaderValue, 'must be printable ASCII on one line')
      .optional()
      .describe('Sent as Authorization: Bearer. Better in UTE_EMBEDDINGS_API_KEY.'),
    dimensions: whole(1, 8_192)
      .optional()
      .describe('Asked for where the model can give vectors of several lengths. Left out: its own.'),
    timeout_ms: whole(10, 30_000)
      .default(1_000)
      .describe('For one text, and never more than half of the time that the call has left.'),
    max_characters: whole(100, 100_000)
      .default(8_000)
      .describe('Of a longer text the beginning is embedded.'),
    min_similarity: z
      .number()
      .min(-1)
      .max(1)
      .default(0.25)
      .describe(
        'Cosine below which a search by meaning finds nothing: {embeddings.min_similarity} in statements. What is alike differs from model to model.',
      ),
    ...egressFields,
  })
  .superRefine((said, context) => {
    const url = URL.parse(said.url);
    if (url === null) return;
    const issue = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    if (url.protocol === 'http:' && !said.allow_http && !isLoopback(url))
      issue('allow_http', 'is needed for a URL that is not https and not on loopback');
    const fault = egressFault(egressOf(said, url), url);
    if (fault !== undefined)
      issue(
        `allow_${fault}s`,
        `must name the ${fault} of url as well: ${fault === 'port' ? url.port : url.host}`,
      );
  });

export type EmbeddingSettings = z.output<typeof embeddings>;

function isLoopback({ hostname }: URL): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

function isServiceUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !['https:', 'http:'].includes(url.protocol)) return false;
  return url.username === '' && url.password === '' && !text.includes('#');
}
