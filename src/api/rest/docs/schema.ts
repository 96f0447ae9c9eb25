// The API's own description, as it is served.
import { route } from '../route/route.ts';
import { object, shape, text } from '../route/shapes.ts';

const TAG = 'docs';
const page = (type: string, description: string) => ({
  200: { description, content: { [type]: shape(() => text()) } },
});

export const getOpenApi = route({
  operationId: 'getOpenApi',
  method: 'get',
  path: '/openapi.json',
  tag: TAG,
  summary: 'This document',
  answers: {
    200: {
      description: 'OpenAPI 3.1.',
      content: { 'application/json': shape(() => object()) },
    },
  },
});

export const getDocs = route({
  operationId: 'getDocs',
  method: 'get',
  path: '/docs',
  tag: TAG,
  summary: 'A page to browse this document',
  answers: page('text/html', 'The page.'),
});

export const getDocsInitializer = route({
  operationId: 'getDocsInitializer',
  method: 'get',
  path: '/docs/initializer.js',
  tag: TAG,
  summary: 'What starts that page',
  answers: page('text/javascript', 'The script.'),
});
