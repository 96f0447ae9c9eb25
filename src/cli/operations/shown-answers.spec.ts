import { expect, it } from 'vitest';
import { shownAnswers } from './shown-answers.ts';

it('replicas are told apart, and not by the names of their hosts', () => {
  const { value, hosts } = shownAnswers({
    status: { replica: 'db-7.prod.example.com-a9340287', metrics_url: 'http://gw.example.com:9464/metrics' },
    replicas: { self: 'vm-00000001', replicas: [{ id: 'vm-00000001' }, { id: 'other-host-00000002' }] },
    running_calls: { replica: 'vm-00000001', calls: [{ call_id: '01a1fe2c-5b00-7000-8000-00000000abcd' }] },
  });
  expect(value).toEqual({
    status: { replica: '[hidden]-a9340287', metrics_url: 'http://[hidden]:9464' },
    replicas: {
      self: '[hidden]-00000001',
      replicas: [{ id: '[hidden]-00000001' }, { id: '[hidden]-00000002' }],
    },
    running_calls: {
      replica: '[hidden]-00000001',
      calls: [{ call_id: '01a1fe2c-5b00-7000-8000-00000000abcd' }],
    },
  });
  expect(new Set(hosts)).toEqual(new Set(['db-7.prod.example.com', 'gw.example.com', 'vm', 'other-host']));
});

it('what is no object, and names that are of something else, stay as they are', () => {
  const answers = {
    status: { error: 'answered 503' },
    registry: null,
    definitions: [{ id: 'sql' }, 7, 'text'],
  };
  expect(shownAnswers(answers)).toEqual({ value: answers, hosts: [] });
});
