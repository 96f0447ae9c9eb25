// The way of a human's browser: from a link, by way of the provider, to a page that says how it ended.
import { randomBytes } from 'node:crypto';
import { Controller, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isReason } from '../../../contract/call/reasons/is-reason.ts';
import type { Principal } from '../../../contract/call/principal.ts';
import { ToolFailure } from '../../../contract/call/tool-failure.ts';
import type { ConnectFor, OAuthBrowser } from '../../../ports/oauth/oauth-control.ts';
import type { Log } from '../../../ports/telemetry/log.ts';
import { MANAGEMENT_ACTS, OAUTH_BROWSER, type OAuthPages } from '../../tokens.ts';
import { admittedFor, type Admitted } from '../management/admitted.ts';
import type { ManagementActs } from '../management/acts.ts';
import { ServesByHand } from '../route/serves.ts';
import { beginConnect, connectPage, oauthCallback } from './page-schema.ts';
import {
  connectedPageHtml,
  connectPageHtml,
  foreignHtml,
  goneHtml,
  laterHtml,
  pageCsp,
  refusedPageHtml,
} from './pages.ts';

const COOKIE_LIFE_S = 900;
/** Anybody may ask for these pages: so many at once are looked up, and no more. */
const MOST_AT_ONCE = 32;

type LinkRequest = FastifyRequest<{ Params: { readonly link: string } }>;
type CallbackRequest = FastifyRequest<{ Params: { readonly provider: string } }>;

@Controller()
export class OAuthPageController {
  readonly #browser: OAuthBrowser;
  readonly #log: Log;
  readonly #acts: ManagementActs;
  #lookingUp = 0;

  constructor(
    @Inject(OAUTH_BROWSER) { browser, log }: OAuthPages,
    @Inject(MANAGEMENT_ACTS) acts: ManagementActs,
  ) {
    this.#browser = browser;
    this.#log = log;
    this.#acts = acts;
  }

  @ServesByHand(connectPage)
  page(@Req() request: LinkRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.#answer(reply, async () => {
      const page = await this.#browser.page(request.params.link);
      if (page === undefined) return sendPage(reply, 404, goneHtml());
      // The one that is there stays, for other links that are open: from now on it is good for as long as this one.
      reply.header('set-cookie', this.#cookie(this.#cookieOf(request) ?? newBrowser()));
      sendPage(reply, 200, connectPageHtml(page), pageCsp(this.#isSecure() ? 'https:' : 'https: http:'));
    });
  }

  @ServesByHand(beginConnect)
  begin(@Req() request: LinkRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.#answer(reply, async (found) => {
      const browser = this.#cookieOf(request);
      if (browser === undefined || !this.#isOwnPage(request)) return sendPage(reply, 403, foreignHtml());
      const url = await this.#browser.begin(request.params.link, browser, found);
      if (url === undefined) return sendPage(reply, 404, goneHtml());
      headersOf(reply, pageCsp()).code(303).header('location', url.href).send('');
    });
  }

  @ServesByHand(oauthCallback)
  callback(@Req() request: CallbackRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.#answer(reply, async (found) => {
      const at = request.url.indexOf('?');
      const parameters = new URLSearchParams(at < 0 ? '' : request.url.slice(at + 1));
      const { provider } = request.params;
      const browser = this.#cookieOf(request);
      const ended = await this.#browser.finish({ provider, parameters, browser }, (who, work) => {
        found();
        return this.#acts.perform(admittedAs(who), actOf(who), work);
      });
      if (ended === undefined) return sendPage(reply, 400, goneHtml());
      sendPage(reply, 200, connectedPageHtml(ended, ended.missingScopes));
    });
  }

  /** `work` is told `found` to say that a link or a state was found: from then on it is its tenant's, and holds up nobody. */
  async #answer(reply: FastifyReply, work: (found: () => void) => Promise<void>): Promise<void> {
    if (this.#lookingUp >= MOST_AT_ONCE) return sendPage(reply, 503, laterHtml());
    this.#lookingUp += 1;
    let isFound = false;
    const found = () => {
      if (!isFound) this.#lookingUp -= 1;
      isFound = true;
    };
    try {
      await work(found);
    } catch (error) {
      if (error instanceof ToolFailure && isReason(error, 'NOT_CONNECTED'))
        return sendPage(reply, 400, refusedPageHtml(codeOf(error)));
      if (error instanceof ToolFailure && isReason(error, 'FLOW_NOT_FOUND'))
        return sendPage(reply, 400, goneHtml());
      this.#log.error({ err: error }, 'an account could not be connected');
      sendPage(reply, 503, laterHtml());
    } finally {
      found();
    }
  }

  /** The form of the page, and nobody else's: browsers say where a POST comes from. */
  #isOwnPage({ headers }: FastifyRequest): boolean {
    const { origin, 'sec-fetch-site': site } = headers;
    if (origin !== undefined) return origin === this.#browser.publicUrl?.origin;
    return site === undefined || site === 'same-origin';
  }

  #cookieOf({ headers }: FastifyRequest): string | undefined {
    const name = this.#cookieName();
    const found = (headers.cookie ?? '')
      .split(';')
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(`${name}=`))
      .map((pair) => pair.slice(name.length + 1));
    // Two of one name: another site of the same domain may have set one.
    const [first, ...others] = found;
    return others.length === 0 && first !== undefined && /^[A-Za-z0-9_-]{43}$/.test(first)
      ? first
      : undefined;
  }

  #cookie(value: string): string {
    const secure = this.#isSecure() ? '; Secure' : '';
    return `${this.#cookieName()}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${COOKIE_LIFE_S}${secure}`;
  }

  /** With the prefix, no other host of the domain can set it. */
  #cookieName(): string {
    return this.#isSecure() ? '__Host-ute_oauth' : 'ute_oauth';
  }

  #isSecure(): boolean {
    return this.#browser.publicUrl?.protocol === 'https:';
  }
}

function newBrowser(): string {
  return randomBytes(32).toString('base64url');
}

function codeOf({ details: { code } }: ToolFailure): string {
  return typeof code === 'string' ? code : 'other';
}

function headersOf(reply: FastifyReply, csp: string): FastifyReply {
  return reply
    .header('content-security-policy', csp)
    .header('cache-control', 'no-store')
    .header('x-content-type-options', 'nosniff')
    .header('x-frame-options', 'DENY')
    .header('cross-origin-opener-policy', 'same-origin')
    .header('referrer-policy', 'same-origin');
}

function sendPage(reply: FastifyReply, status: number, html: string, csp = pageCsp()): void {
  headersOf(reply, csp).code(status).header('content-type', 'text/html; charset=utf-8').send(html);
}

/** The record names who asked for the link: nobody else is known here. */
function admittedAs({ createdBy, tenantId }: ConnectFor): Admitted {
  const principal: Principal = { id: createdBy, tenantId, agents: [], roles: [], permissions: new Set() };
  return admittedFor(principal);
}

function actOf({ agent, provider }: ConnectFor) {
  return { action: 'agents.oauth.connect', target: `${agent}/${provider}`, door: 'browser' };
}
