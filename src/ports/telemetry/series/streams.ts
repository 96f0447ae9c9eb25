// Series of streams: conversations over one connection, in which calls are made and waited for.
import { named } from './series-definition.ts';

export const STREAM_SERIES = named({
  ute_streams_open: {
    type: 'gauge',
    help: 'Streams that this process holds, those without a connection too.',
  },
  ute_streams_detached: {
    type: 'gauge',
    help: 'Streams whose connection was lost, and that wait for their clients.',
  },
  ute_stream_messages_total: {
    type: 'counter',
    help: 'Messages in streams, by direction (in: of clients) and type.',
    labels: ['direction', 'type'],
  },
  ute_stream_resumes_total: {
    type: 'counter',
    help: 'Streams that clients went on with, by outcome: here, elsewhere (it came from another replica), refused.',
    labels: ['outcome'],
  },
  ute_streams_ended_total: {
    type: 'counter',
    help: 'Streams that are over, by reason: ended, lost (nobody came back), parked (for another replica), or why the gateway ended it.',
    labels: ['reason'],
  },
  ute_stream_pauses_total: {
    type: 'counter',
    help: 'Times that a stream took nothing from its client, since too much waited for a call or for the reader.',
  },
  ute_stream_events_left_out_total: {
    type: 'counter',
    help: 'Progress and log lines of calls that were left out for readers that were slow.',
  },
});
