// The API's own description: openapi.json, and a page to browse it. Open to all: it tells nothing about the tools.
import { Controller, Header, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ServesByHand } from '../route/serves.ts';
import { DOCS_CSP, docsInitializerJs, docsPageHtml } from './docs-page.ts';
import { openApiJson } from './document-file.ts';
import { getDocs, getDocsInitializer, getOpenApi } from './schema.ts';

@Controller()
export class DocsController {
  #openApi: Buffer | undefined;

  @ServesByHand(getOpenApi)
  @Header('content-type', 'application/json; charset=utf-8')
  openApi(): Buffer {
    return (this.#openApi ??= openApiJson());
  }

  @ServesByHand(getDocs)
  @Header('content-type', 'text/html; charset=utf-8')
  page(@Res() reply: FastifyReply): void {
    reply.header('content-security-policy', DOCS_CSP).send(docsPageHtml('/docs'));
  }

  @ServesByHand(getDocsInitializer)
  @Header('content-type', 'text/javascript; charset=utf-8')
  initializer(): string {
    return docsInitializerJs();
  }
}
