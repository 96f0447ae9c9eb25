// The grpc executor's options: which method of which upstream, and what of the calling agent goes along.
import { z } from 'zod';
import { metadataBy } from '../../lib/grpc/grpc-connection.ts';
import { whole } from '../../lib/settings/whole.ts';
import { parseTemplate, TemplateError } from '../../lib/text/template.ts';

export const DEFAULT_MOST_MESSAGES = 1_000;

const ofAgent = z.string().superRefine((text, context) => {
  const message = templateProblem(text);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

export const grpcOptionsSchema = z.strictObject({
  connection: z.string().min(1).describe('Name of a connection of type grpc.'),
  method: z
    .string()
    .regex(/^[A-Za-z_][\w.]*\/[A-Za-z_]\w*$/, { error: 'Expected package.Service/Method.' })
    .describe('A unary or server-streaming method: package.Service/Method.'),
  metadata: metadataBy('tool', ofAgent)
    .optional()
    .describe(
      'Sent along: fixed text, and {config.name} and {sensitive_config.name} of the calling agent. No argument stands here.',
    ),
  max_messages: whole(1, 100_000)
    .optional()
    .describe(
      'Of a stream: when so many have come, it is ended, and the result says complete: false. 1000 when left out.',
    ),
  max_response_bytes: whole(1, 64 << 20)
    .optional()
    .describe('Of all messages of one answer together, on the wire; 4 MiB when left out.'),
  defaults: z
    .enum(['show', 'omit'])
    .optional()
    .describe(
      'Whether a result tells 0, "", false and first values of enums, which do not stand on the wire. show when left out.',
    ),
  upstream_errors: z
    .enum(['show', 'hide'])
    .optional()
    .describe(
      "Whether callers read what an error of the upstream says: bounded, and without the connection's secrets. show when left out.",
    ),
});

export type GrpcOptions = z.output<typeof grpcOptionsSchema>;

function templateProblem(text: string): string | undefined {
  try {
    const argument = parseTemplate(text, { ofAgent: true }).names.find((name) => !name.includes('.'));
    return argument === undefined
      ? undefined
      : `Expected {config.name} or {sensitive_config.name}; "{${argument}}" would be an argument, which has no place in metadata.`;
  } catch (error) {
    if (error instanceof TemplateError) return `${error.message}.`;
    throw error;
  }
}
