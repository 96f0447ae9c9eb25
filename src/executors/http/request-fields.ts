// Fields of a request that say how arguments are written: lists and objects, forms, files.
import { z } from 'zod';
import { fileHostFields } from '../../lib/egress/egress.ts';
import { whole } from '../../lib/settings/whole.ts';
import { headerNameProblem } from '../../lib/text/header-rules.ts';

export const MAX_BYTES = 64 * 1024 * 1024;

const lists = z
  .enum(['indices', 'brackets', 'repeat'])
  .optional()
  .describe('How deepObject writes the items of a list: a[0]=, when left out, a[]= or a=.');

const headerArgument = z.strictObject({
  from: z.string().min(1).describe('Name of the argument.'),
  style: z.enum(['simple', 'json']).optional().describe('simple when left out.'),
  explode: z.boolean().optional().describe('Of an object: k=v,… in place of k,v,…'),
});

const pathArgument = z.strictObject({
  style: z.enum(['simple', 'label', 'matrix', 'json']).optional().describe('simple when left out.'),
  explode: z.boolean().optional(),
  name: z.string().min(1).optional().describe('What matrix calls it; the argument’s own name when left out.'),
});

const bodyPart = z.strictObject({
  style: z
    .enum(['form', 'spaceDelimited', 'pipeDelimited', 'deepObject', 'json'])
    .optional()
    .describe(
      'Of a member of a form. Left out: lists as form, objects as json; with explode, form for both.',
    ),
  explode: z.boolean().optional().describe('Of a member of a form: as for the query.'),
  lists,
  content_type: z
    .string()
    .regex(/^[\x20-\x7e]{1,200}$/)
    .optional()
    .describe('Of a part of multipart alone.'),
  file: z
    .boolean()
    .optional()
    .describe(
      'Of multipart alone: the argument is a file: base64, or {base64 or url, filename, content_type}.',
    ),
});

export type BodyPartRule = z.output<typeof bodyPart>;

const fileUrls = z.union([z.literal('public'), z.strictObject(fileHostFields)]);

export const queryArgument = z.strictObject({
  from: z.string().min(1).describe('Name of the argument.'),
  style: z
    .enum(['form', 'spaceDelimited', 'pipeDelimited', 'deepObject', 'json'])
    .optional()
    .describe('How OpenAPI writes lists and objects, or json: as JSON text; form when left out.'),
  explode: z
    .boolean()
    .optional()
    .describe('A pair for each item or property, or one pair for all; true for form when left out.'),
  lists,
});

export const placeFields = {
  path_slashes: z
    .enum(['encode', 'refuse'])
    .optional()
    .describe(
      '"/" and "%" in an argument of the path: sent as %2F and %25, or refused; encode when left out. "." and ".." between slashes are always refused.',
    ),
  path_arguments: z
    .record(z.string(), pathArgument)
    .optional()
    .describe('By argument: how a list or an object is written in the path.'),
  header_arguments: z
    .record(z.string(), headerArgument)
    .superRefine((headers, context) => {
      for (const name of Object.keys(headers)) {
        const message = headerNameProblem(name, 'tool');
        if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message });
      }
    })
    .optional()
    .describe('Headers that hold a list, an object or JSON.'),
  body_as: z
    .enum(['json', 'form', 'multipart', 'text', 'file'])
    .optional()
    .describe(
      'What the body is sent as: json when left out; form and multipart of an object; text; or one file (base64, or {base64 or url, filename, content_type}).',
    ),
  body_parts: z
    .record(z.string(), bodyPart)
    .optional()
    .describe('Of form and multipart: how each member is written.'),
  file_urls: fileUrls
    .optional()
    .describe(
      'Whether a file may be given by URL, and where it may be fetched: public for anywhere public, or hosts. Not at all when left out.',
    ),
  max_file_bytes: whole(1, MAX_BYTES)
    .optional()
    .describe(
      'Of one file that is sent, and of all files of a call that are given by URL (20 at most) together; 10 MiB when left out.',
    ),
};
