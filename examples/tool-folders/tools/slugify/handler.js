// slugify: what of a title can stand in a URL.

const MOST = 80;

export function execute({ title }) {
  const plain = title.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const slug = plain
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, MOST)
    .replaceAll(/^-|-$/g, '');
  if (slug !== '') return { slug };
  throw Object.assign(new Error('The title holds no letter and no digit.'), {
    type: 'VALIDATION',
    reason: 'NOTHING_LEFT',
  });
}
