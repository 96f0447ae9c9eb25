// The pack `memory` with an embedding service (D6): notes found by what they mean as well as by words, and by words alone while it fails.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EmbeddingService } from '../helpers/embedding-service.ts';
import { request, type RestTarget } from '../helpers/rest-client.ts';
import { startGateway, type RunningGateway } from '../helpers/running-gateway.ts';

const KEY = 'sk-the-key-of-the-embedding-service';
const BO = { agent_id: 'desk', user_id: 'bo' };

let service: EmbeddingService;
let gateway: RunningGateway;
let agent: RestTarget;
let desk: RestTarget;

beforeAll(async () => {
  service = await new EmbeddingService().start();
  gateway = await startGateway({
    tools: [],
    settings: {
      loaders: [{ type: 'pack', name: 'memory' }],
      embeddings: service.settings({ timeout_ms: 1_500, min_similarity: 0.6 }),
    },
    env: { UTE_EMBEDDINGS_API_KEY: KEY },
    roles: { desk: ['tools:call', 'memory:admin'] },
    more: {
      agent: { tenant: 'acme', roles: ['agent'], agents: ['*'] },
      umbrella: { tenant: 'umbrella', roles: ['agent'], agents: ['*'] },
      desk: { tenant: 'acme', roles: ['desk'], agents: ['*'] },
    },
  });
  [agent, desk] = [gateway.key('agent'), gateway.key('desk')];
});
afterAll(async () => {
  await gateway?.stop();
  await service?.close();
});

interface Note {
  readonly content: string;
  readonly found_by: readonly string[];
}
interface Answer {
  readonly ok: boolean;
  readonly data: Record<string, unknown> & { readonly notes?: readonly Note[] };
  readonly meta: { readonly degraded: readonly string[]; readonly untrusted?: boolean };
}

const ask = async (who: RestTarget, tool: string, said: object = {}, context: object = BO) =>
  (await request<Answer>(who, 'POST', `/v1/tools/${tool}/execute`, { arguments: said, context })).body;
const save = (content: string, more: object = {}, context: object = BO) =>
  ask(agent, 'save_note', { content, ...more }, context);
const search = (query: string, more: object = {}, who = agent, context: object = BO) =>
  ask(who, 'search_memory', { query, ...more }, context);
const contents = ({ data }: Answer) => data.notes?.map(({ content }) => content);

/** Whatever failed before: three in a row would have it left alone for a while. */
async function isAskedAgain(): Promise<void> {
  service.instead = undefined;
  await expect
    .poll(async () => (await search('tea')).meta.degraded, { timeout: 30_000, interval: 250 })
    .toEqual([]);
}

beforeEach(async () => {
  await isAskedAgain();
  await ask(desk, 'forget_all_notes', {}, { user_id: 'bo' });
  service.asked.length = 0;
});

describe('with an embedding service', () => {
  it('a note is found by what it means, without any of its words, and comes marked as untrusted', async () => {
    await save('Has a puppy called Rex.');
    await save('Owns an old vehicle.');
    const answer = await search('canine');
    expect(contents(answer)).toEqual(['Has a puppy called Rex.']);
    expect(answer).toMatchObject({
      data: { searched_by: 'words and meaning', notes: [{ found_by: ['meaning'] }] },
      meta: { degraded: [], untrusted: true },
    });
  });

  it('what both words and meaning find comes before what one of them finds', async () => {
    await save('Likes the beverage of the house.');
    await save('Spilt something on the tea towel, which is no drink.');
    await save('Tea in the morning, a drink that wakes.');
    await save('The towel is blue.');
    const { data } = await search('tea towel');
    expect(data.notes?.[0]).toMatchObject({
      content: expect.stringContaining('towel') as string,
      found_by: ['words', 'meaning'],
    });
    expect(data.notes?.map(({ found_by: by }) => by.length)).toEqual([2, 2, 1, 1]);
  });

  it('nothing is alike: nothing is found', async () => {
    await save('Has a puppy called Rex.');
    expect(contents(await search('quarterly figures'))).toEqual([]);
  });

  it('the service is told the model and the key, and a changed text is embedded anew', async () => {
    const { data } = await save('Has a puppy.');
    await ask(agent, 'update_note', { note_id: data['note_id'], content: 'Sees a physician on Mondays.' });
    await ask(agent, 'update_note', { note_id: data['note_id'], tags: ['health'] });
    expect(service.asked).toMatchObject([
      { model: 'toy', input: 'Has a puppy.', authorization: `Bearer ${KEY}` },
      { input: 'Sees a physician on Mondays.' },
    ]);
    expect(contents(await search('canine'))).toEqual([]);
    expect(contents(await search('doctor', { tag: 'health' }))).toEqual(['Sees a physician on Mondays.']);
  });

  it.each([
    ['tenant', 'umbrella', BO],
    ['agent', 'agent', { ...BO, agent_id: 'night' }],
    ['user', 'agent', { ...BO, user_id: 'cy' }],
    ['nobody', 'agent', {}],
    ['no agent', 'agent', { user_id: 'bo' }],
  ] as const)('meaning finds nothing for another %s', async (_whose, who, context) => {
    await save('Has a puppy called Rex.');
    const answer = await search('canine', { limit: 50 }, gateway.key(who), context);
    expect({ found: contents(answer), ok: answer.ok }).toEqual({ found: [], ok: true });
  });

  it('a dry run asks the service nothing', async () => {
    const answer = await search('canine', {}, agent, { ...BO, dry_run: true });
    expect(answer.ok).toBe(true);
    expect(service.asked).toEqual([]);
  });
});

describe('an embedding service that fails', () => {
  const vector = (embedding: string) => ({ body: `{"data": [{"embedding": ${embedding}}]}` });

  it.each([
    ['is away', { status: 503 }],
    ['does not take the key', { status: 401 }],
    ['never answers', 'nothing'],
    ['says NaN', vector('[NaN, 1]')],
    ['says null', vector('[null, 1]')],
    ['says what is infinite', vector('[1e400, 1]')],
    ['says only zeros', vector('[0, 0, 0]')],
    ['says nothing', vector('[]')],
    ['says a million dimensions', vector(`[${'0.5,'.repeat(999_999)}0.5]`)],
    ['says texts', vector('["1", "2"]')],
    ['says a list of lists', vector('[[1, 2]]')],
    ['answers for somebody else', { body: '{"data": []}' }],
    ['is a page', { body: '<html>Sign in</html>' }],
  ] as const)('that %s: notes are kept and found by words, and the answer says so', async (_how, instead) => {
    service.instead = instead;
    expect(await save('Has a puppy called Rex.')).toMatchObject({
      ok: true,
      data: { saved: true },
      meta: { degraded: ['embeddings'] },
    });
    const answer = await search('puppy');
    expect(answer).toMatchObject({
      ok: true,
      data: { searched_by: 'words' },
      meta: { degraded: ['embeddings'] },
    });
    expect(contents(answer)).toEqual(['Has a puppy called Rex.']);
    expect(JSON.stringify(answer)).not.toContain(KEY);
  });

  it('vectors of another length are compared with none, and words are searched all the same', async () => {
    await save('Has a puppy called Rex.');
    service.instead = vector('[1, 0, 0]');
    const answer = await search('canine');
    expect({ found: contents(answer), ...answer.meta }).toMatchObject({ found: [], degraded: [] });
    expect(contents(await search('puppy'))).toEqual(['Has a puppy called Rex.']);
  });

  it('numbers that are too small or too large for the database are a vector all the same', async () => {
    service.instead = vector('[1e-320, 1e300, -1e300, 3e-45]');
    expect(await save('Has a puppy called Rex.')).toMatchObject({ ok: true, meta: { degraded: [] } });
    expect(contents(await search('whatever'))).toEqual(['Has a puppy called Rex.']);
  });

  it('what was saved meanwhile is prepared by the desk, of all agents of the user', async () => {
    service.instead = { status: 503 };
    await save('Has a puppy called Rex.');
    await save('Owns a hound.', {}, { ...BO, agent_id: 'night' });
    await isAskedAgain();
    expect(contents(await search('canine'))).toEqual([]);
    const index = async () => (await ask(desk, 'index_notes', {}, { user_id: 'bo' })).data;
    expect(await index()).toEqual({ found: 2, indexed: 2 });
    expect(await index()).toEqual({ found: 0, indexed: 0 });
    expect(contents(await search('canine'))).toEqual(['Has a puppy called Rex.']);
    expect(contents(await search('canine', {}, agent, { ...BO, agent_id: 'night' }))).toEqual([
      'Owns a hound.',
    ]);
    expect(await ask(agent, 'index_notes')).toMatchObject({
      ok: false,
      error: { type: 'PERMISSION_DENIED' },
    });
  });

  it('notes that the service never takes are passed over, and come to an end', async () => {
    service.refuses = /unheard of/;
    service.instead = { status: 503 };
    for (let number = 1; number <= 50; number += 1) await save(`Something unheard of, number ${number}.`);
    await save('Has a puppy called Rex.');
    await isAskedAgain();
    const index = async () => (await ask(desk, 'index_notes', {}, { user_id: 'bo' })).data;
    expect(await index()).toEqual({ found: 50, indexed: 0 });
    await isAskedAgain();
    expect(await index()).toEqual({ found: 1, indexed: 1 });
    expect(await index()).toEqual({ found: 0, indexed: 0 });
    expect(contents(await search('canine'))).toEqual(['Has a puppy called Rex.']);
    service.refuses = undefined;
  });
});
