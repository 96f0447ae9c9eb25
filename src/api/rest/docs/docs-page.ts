// The page at /docs: Swagger UI from this host alone, under a policy that allows no inline script.
import { createRequire } from 'node:module';
import { dirname } from 'node:path';

/** Only files of this host, and the icons that Swagger UI holds as data: URLs. */
export const DOCS_CSP = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** `base`: the path of the page. Beside it lie `initializer.js` and, under `assets/`, Swagger UI; openapi.json one up. */
export function docsPageHtml(base: string): string {
  const at = escapeHtml(base.replace(/\/+$/, ''));
  const openApi = `${at.slice(0, at.lastIndexOf('/') + 1)}openapi.json`;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>UnifiedToolExecutor API</title>
    <link rel="icon" type="image/png" sizes="32x32" href="${at}/assets/favicon-32x32.png">
    <link rel="stylesheet" href="${at}/assets/swagger-ui.css">
  </head>
  <body>
    <div id="swagger-ui" data-openapi="${openApi}"></div>
    <script src="${at}/assets/swagger-ui-bundle.js"></script>
    <script src="${at}/initializer.js"></script>
  </body>
</html>
`;
}

/** Starts Swagger UI. Keys typed into the page are not kept, and no outside validator is asked. */
export function docsInitializerJs(): string {
  return `'use strict';
SwaggerUIBundle({
  domNode: document.getElementById('swagger-ui'),
  url: document.getElementById('swagger-ui').dataset.openapi,
  deepLinking: true,
  persistAuthorization: false,
  validatorUrl: null,
  tryItOutEnabled: true,
});
`;
}

/** The folder of Swagger UI's own files. Found without loading the package, which would load a browser's bundle. */
export function swaggerAssetsDir(): string {
  return dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
