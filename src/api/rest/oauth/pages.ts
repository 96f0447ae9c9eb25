// The pages of a browser that connects an account: no script, nothing from elsewhere, nothing unescaped.
import type { LinkPage } from '../../../ports/oauth/oauth-control.ts';
import { showingHiddenIn } from '../../../lib/text/hidden-text.ts';

/** `formTarget`: where the form leads on to; browsers hold the redirect after it to this as well. */
export function pageCsp(formTarget?: string): string {
  const form = formTarget === undefined ? "'none'" : `'self' ${formTarget}`;
  return `default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action ${form}`;
}

/** What a human agrees to: whose agent is to act for them, and where. */
export function connectPageHtml({ agent, tenantId, provider, scopes }: LinkPage): string {
  const asked = scopes.map((scope) => `<li><code>${shown(scope)}</code></li>`).join('');
  return pageHtml(
    'Connect an account',
    `<p>The agent <strong>${shown(agent)}</strong> of <strong>${shown(tenantId)}</strong> asks for access to an account of yours at <strong>${shown(provider)}</strong>. It will act there in your name, until you or an operator disconnect it.</p>
${asked === '' ? '' : `<p>It asks for:</p><ul>${asked}</ul>`}
<p>Go on only if you have asked for this yourself, or know who did. If somebody sent you this link unasked, close the page.</p>
<form method="post"><button type="submit">Go on to ${shown(provider)}</button></form>`,
  );
}

export function connectedPageHtml(
  { agent, provider }: Pick<LinkPage, 'agent' | 'provider'>,
  missingScopes: readonly string[],
): string {
  const missing = missingScopes.map((scope) => `<li><code>${shown(scope)}</code></li>`).join('');
  const short =
    missing === ''
      ? ''
      : `<p>Some of what its tools need was not granted, and those stay refused:</p><ul>${missing}</ul>`;
  return pageHtml(
    'Connected',
    `<p>The agent <strong>${shown(agent)}</strong> is connected to your account at <strong>${shown(provider)}</strong>. You can close this page.</p>${short}`,
  );
}

/** `code`: a word of OAuth, such as access_denied. */
export function refusedPageHtml(code: string): string {
  return pageHtml(
    'Not connected',
    `<p>Nothing was connected: the provider answered <code>${shown(code)}</code>. Ask for another link to try again.</p>`,
  );
}

export function goneHtml(): string {
  return pageHtml(
    'This link is not good any more',
    '<p>It was used, it is too old, or it was begun in another browser. Nothing was connected. Ask for another link, and open it in the browser in which you go on.</p>',
  );
}

export function laterHtml(): string {
  return pageHtml(
    'Not now',
    '<p>The gateway or the provider cannot do this now. Nothing was connected. Try again in a minute.</p>',
  );
}

export function foreignHtml(): string {
  return pageHtml(
    'Begin at the link',
    '<p>This has to begin on the page of the link itself, with cookies allowed. Nothing was connected.</p>',
  );
}

function pageHtml(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <title>${title}</title>
  </head>
  <body>
    <h1>${title}</h1>
    ${body}
  </body>
</html>
`;
}

/** Names are chosen by others: hidden and turning characters are shown for what they are. */
function shown(text: string): string {
  return showingHiddenIn(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
