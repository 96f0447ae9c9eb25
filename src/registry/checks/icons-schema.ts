// What an operator may write under `metadata.icons`: few and small pictures, since every list of tools holds them.
import { z } from 'zod';

const MOST = 4;
const LONGEST_URL = 2_048;
const LONGEST_DATA = 16_384;
const LARGEST_TOGETHER = 32_768;
/** None that may hold a program, as SVG may. */
const DATA = /^data:image\/(?:png|jpeg|webp|gif);base64,[A-Za-z0-9+/]+={0,2}$/;

const icon = z.strictObject({
  src: z
    .string()
    .refine(isSource, {
      error: `expected an https URL of at most ${LONGEST_URL} characters, or data:image/png;base64,… (png, jpeg, webp or gif) of at most ${LONGEST_DATA}`,
    })
    .describe('An https URL, or a data: URI of a PNG, JPEG, WebP or GIF in base64.'),
  mime_type: z
    .string()
    .regex(/^image\/[a-z0-9.+-]{1,60}$/, 'expected a type such as image/png')
    .optional()
    .describe('Where the URL does not tell.'),
  sizes: z
    .array(z.string().regex(/^(?:any|[1-9]\d{0,4}x[1-9]\d{0,4})$/, 'expected a size such as 48x48, or any'))
    .min(1)
    .max(8)
    .optional()
    .describe('Sizes that it is good for; any where left out.'),
  theme: z.enum(['light', 'dark']).optional().describe('The background that it is made for.'),
});

export const icons = z
  .array(icon)
  .min(1)
  .max(MOST)
  .refine((all) => all.reduce((sum, { src }) => sum + src.length, 0) <= LARGEST_TOGETHER, {
    error: `expected icons of at most ${LARGEST_TOGETHER} characters together`,
  });

function isSource(src: string): boolean {
  if (src.startsWith('data:')) return src.length <= LONGEST_DATA && DATA.test(src);
  if (src.length > LONGEST_URL || !URL.canParse(src)) return false;
  const { protocol, username, password } = new URL(src);
  return protocol === 'https:' && username === '' && password === '';
}
