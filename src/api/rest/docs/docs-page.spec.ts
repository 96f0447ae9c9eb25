// The docs page: nothing inline, nothing from elsewhere, and every file it names is there.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Script } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { DOCS_CSP, docsInitializerJs, docsPageHtml, swaggerAssetsDir } from './docs-page.ts';

describe('docsPageHtml', () => {
  it('names only files that Swagger UI brings, the initializer and the document', () => {
    const named = [...docsPageHtml('/docs').matchAll(/(?:href|src|data-openapi)="([^"]*)"/g)].map(
      ([, url]) => url,
    );
    expect(named).toEqual([
      '/docs/assets/favicon-32x32.png',
      '/docs/assets/swagger-ui.css',
      '/openapi.json',
      '/docs/assets/swagger-ui-bundle.js',
      '/docs/initializer.js',
    ]);
    const assets = named.filter((url) => url?.startsWith('/docs/assets/'));
    const missing = assets.filter(
      (url) => !existsSync(join(swaggerAssetsDir(), String(url).slice('/docs/assets/'.length))),
    );
    expect(missing).toEqual([]);
  });

  it('has no inline script, style or handler', () => {
    const html = docsPageHtml('/docs');
    expect(html).not.toMatch(/<script(?![^>]*\ssrc=)/);
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=/);
  });

  it('follows a base under a prefix and escapes it', () => {
    expect(docsPageHtml('/gateway/docs/')).toContain('data-openapi="/gateway/openapi.json"');
    expect(docsPageHtml('/"><script>/docs')).not.toContain('"><script>');
  });
});

describe('DOCS_CSP', () => {
  it('lets nothing in but files of this host', () => {
    expect(DOCS_CSP).toContain("default-src 'none'");
    expect(DOCS_CSP).toContain("script-src 'self'");
    expect(DOCS_CSP).not.toMatch(/unsafe|https?:|\*/);
  });
});

describe('docsInitializerJs', () => {
  it('starts Swagger UI on the document that the page names, with no outside validator', () => {
    const calls: unknown[] = [];
    const element = { dataset: { openapi: '/openapi.json' } };
    new Script(docsInitializerJs()).runInNewContext({
      document: { getElementById: (id: string) => (id === 'swagger-ui' ? element : undefined) },
      SwaggerUIBundle: (options: unknown) => calls.push(options),
    });
    expect(calls).toEqual([
      expect.objectContaining({ domNode: element, url: '/openapi.json', validatorUrl: null }),
    ]);
  });
});
