// The API's own description: openapi.json, and a page to browse it. Open to all: it tells nothing about the tools.
import { Controller, Get, Header, Inject, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DOCS_CSP, docsInitializerJs, docsPageHtml } from './docs-page.ts';
import { OPENAPI_DOCUMENT } from '../tokens.ts';

@Controller()
export class DocsController {
  constructor(@Inject(OPENAPI_DOCUMENT) private readonly document: object) {}

  @Get('openapi.json')
  openApi() {
    return this.document;
  }

  @Get('docs')
  @Header('content-type', 'text/html; charset=utf-8')
  page(@Res() reply: FastifyReply): void {
    reply.header('content-security-policy', DOCS_CSP).send(docsPageHtml('/docs'));
  }

  @Get('docs/initializer.js')
  @Header('content-type', 'text/javascript; charset=utf-8')
  initializer(): string {
    return docsInitializerJs();
  }
}
