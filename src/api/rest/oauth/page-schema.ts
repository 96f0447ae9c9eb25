// What a browser is shown on its way to a provider and back. Open to all: the link and the state are what let in.
import { route, type Answer } from '../route/route.ts';
import { shape, text } from '../route/shapes.ts';
import { TAG } from '../agents/schema.ts';

const html = (description: string): Answer => ({
  description,
  content: { 'text/html': shape(() => text()) },
});
const linkParam = shape(() => text('As `POST /v1/agents/{agent}/oauth/{provider}/authorize` gave it.'));
const providerParam = shape(() => text('One of oauth.providers in gateway.yaml.'));

export const connectPage = route({
  operationId: 'getConnectPage',
  method: 'get',
  path: '/oauth/connect/{link}',
  tag: TAG,
  summary: 'A page that asks whether to connect the agent; for browsers',
  params: { link: linkParam },
  answers: {
    200: html('The page.'),
    404: html('The link is not good any more.'),
    503: html('Try again later.'),
  },
  sendsItself: true,
});

export const beginConnect = route({
  operationId: 'beginConnect',
  method: 'post',
  path: '/oauth/connect/{link}',
  tag: TAG,
  summary: 'On to the provider; for browsers',
  params: { link: linkParam },
  answers: {
    303: { description: 'To the provider.' },
    403: html('Not from the page of this gateway.'),
    404: html('The link is not good any more.'),
    503: html('Try again later.'),
  },
  sendsItself: true,
});

export const oauthCallback = route({
  operationId: 'finishConnect',
  method: 'get',
  path: '/oauth/callback/{provider}',
  tag: TAG,
  summary: 'Back from the provider, with its code; for browsers',
  params: { provider: providerParam },
  answers: {
    200: html('The account is connected.'),
    400: html('It is not: refused, used before, too late, or begun in another browser.'),
    503: html('Try again later.'),
  },
  sendsItself: true,
});
