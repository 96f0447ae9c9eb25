// Series of the process and what it stands on: version, disk, database, certificates.
import { named } from './series-definition.ts';

export const PROCESS_SERIES = named({
  ute_degraded: {
    type: 'gauge',
    help: '1 while a component does without what it has when all is well: Redis, the database, a disk, a source of tools.',
    labels: ['component'],
  },
  ute_build_info: {
    type: 'gauge',
    help: 'Always 1: the version of the gateway and of Node in its labels.',
    labels: ['version', 'node'],
  },
  ute_processes: {
    type: 'gauge',
    help: 'Of a gateway of several processes (processes): how many there should be (wanted), and how many serve (serving).',
    labels: ['state'],
  },
  ute_process_restarts_total: {
    type: 'counter',
    help: 'Of a gateway of several processes: how often one of them ended and was started again.',
  },
  ute_data_dir_free_bytes: {
    type: 'gauge',
    help: 'Space that the gateway may still use on the disk of data_dir.',
  },
  ute_data_dir_size_bytes: { type: 'gauge', help: 'Size of the disk of data_dir.' },
  ute_certificate_expiry_timestamp_seconds: {
    type: 'gauge',
    help: 'When a certificate that the gateway uses expires, Unix time; of a file that holds several, the first to expire.',
    labels: ['certificate'],
  },
  ute_database_connections: {
    type: 'gauge',
    help: 'Connections of the pool to the gateway’s database (open, idle), and statements that wait for one (waiting).',
    labels: ['state'],
  },
});
