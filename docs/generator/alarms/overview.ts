/** The panels of the Grafana dashboard that no alarm belongs to, by row. */
import type { Alarm } from './catalogue.ts';

export interface Overview {
  title: string;
  /** Of Grafana. */
  unit: string;
  /** Expression and legend. */
  lines: [expr: string, legend: string][];
}

const seconds = 'holdfast_http_request_duration_seconds';

export const overview: Record<Alarm['topic'], Overview[]> = {
  Requests: [
    {
      title: 'Requests by route',
      unit: 'reqps',
      lines: [[`sum by (method, route) (rate(${seconds}_count[5m]))`, '{{method}} {{route}}']],
    },
    {
      title: 'Requests by status',
      unit: 'reqps',
      lines: [[`sum by (status) (rate(${seconds}_count[5m]))`, '{{status}}']],
    },
    {
      title: 'Share of status 5xx by route',
      unit: 'percentunit',
      lines: [
        [
          `sum by (route) (rate(${seconds}_count{status=~"5.."}[5m])) / sum by (route) (rate(${seconds}_count[5m]))`,
          '{{route}}',
        ],
      ],
    },
    { title: 'p50 by route', unit: 's', lines: [[quantileOf(0.5), '{{route}}']] },
    { title: 'p99 by route', unit: 's', lines: [[quantileOf(0.99), '{{route}}']] },
  ],
  Anchoring: [
    {
      title: 'Versions that wait',
      unit: 'short',
      lines: [
        ['max(holdfast_anchor_pending_leaves)', 'for a batch'],
        ['max(holdfast_anchor_unannounced_leaves)', 'for their event'],
      ],
    },
    {
      title: 'Batches that are not final',
      unit: 'short',
      lines: [['max by (status) (holdfast_anchor_batches)', '{{status}}']],
    },
    {
      title: 'Open transactions',
      unit: 'short',
      lines: [['max by (status) (holdfast_sender_open_transactions)', '{{status}}']],
    },
  ],
  Webhooks: [
    {
      title: 'Results of deliveries',
      unit: 'ops',
      lines: [['sum by (outcome) (rate(holdfast_webhook_deliveries_total[5m]))', '{{outcome}}']],
    },
    {
      title: 'Open deliveries',
      unit: 'short',
      lines: [['max by (status) (holdfast_webhook_open_deliveries)', '{{status}}']],
    },
    {
      title: 'Duration of attempts, p99',
      unit: 's',
      lines: [
        [
          'histogram_quantile(0.99, sum by (le, outcome) (rate(holdfast_webhook_attempt_duration_seconds_bucket[5m])))',
          '{{outcome}}',
        ],
      ],
    },
    {
      title: 'Endpoints that fail or are disabled',
      unit: 'short',
      lines: [['max by (state) (holdfast_webhook_endpoints)', '{{state}}']],
    },
    {
      title: 'Claims of dead nodes given back',
      unit: 'ops',
      lines: [['sum by (instance) (rate(holdfast_webhook_claims_given_back_total[5m]))', '{{instance}}']],
    },
  ],
  Chain: [
    {
      title: 'Blocks',
      unit: 'short',
      lines: [
        ['max(holdfast_chain_head_block)', 'newest'],
        ['max(holdfast_chain_indexed_block)', 'indexed'],
      ],
    },
    {
      title: 'Balance of the submitter, in units of 1e18 wei',
      unit: 'short',
      lines: [['max(holdfast_sender_balance_wei) / 1e18', 'balance']],
    },
    {
      title: 'Confirmations of the oldest mined transaction',
      unit: 'short',
      lines: [
        ['max(holdfast_sender_confirmations)', 'so far'],
        ['max(holdfast_sender_confirmations_wanted)', 'wanted'],
      ],
    },
    { title: 'Who leads', unit: 'short', lines: [['holdfast_chain_leads', '{{instance}}']] },
  ],
  Clocks: [
    {
      title: 'Timestamp tokens',
      unit: 'ops',
      lines: [
        ['sum by (authority) (rate(holdfast_timestamp_tokens_total[5m]))', '{{authority}}: stored'],
        ['sum by (authority) (rate(holdfast_timestamp_failures_total[5m]))', '{{authority}}: failed'],
      ],
    },
    {
      title: 'Age of the last token',
      unit: 's',
      lines: [['min by (authority) (holdfast_timestamp_last_token_seconds)', '{{authority}}']],
    },
    {
      title: 'Time until a certificate ends that tokens rely on',
      unit: 's',
      lines: [['min(holdfast_timestamp_first_certificate_end_seconds) - time()', 'first end']],
    },
    {
      title: 'OpenTimestamps',
      unit: 'short',
      lines: [
        ['max(holdfast_opentimestamps_pending)', 'without a Bitcoin block'],
        ['max(holdfast_opentimestamps_unchecked)', 'without its header'],
        ['sum(increase(holdfast_opentimestamps_completed_total[1h]))', 'completed in an hour'],
      ],
    },
  ],
  Process: [
    {
      title: 'CPU cores in use',
      unit: 'short',
      lines: [['rate(process_cpu_seconds_total[5m])', '{{instance}}']],
    },
    {
      title: 'Resident memory',
      unit: 'bytes',
      lines: [['process_resident_memory_bytes', '{{instance}}']],
    },
    {
      title: 'Event loop lag, p99',
      unit: 's',
      lines: [['nodejs_eventloop_lag_p99_seconds', '{{instance}}']],
    },
    {
      title: 'Open file descriptors',
      unit: 'short',
      lines: [['process_open_fds', '{{instance}}']],
    },
    {
      title: 'Database connections',
      unit: 'short',
      lines: [['sum by (instance, state) (holdfast_database_connections)', '{{instance}} {{state}}']],
    },
    {
      title: 'Failures of loops in five minutes',
      unit: 'short',
      lines: [['delta(holdfast_loop_failures[5m]) > 0', '{{instance}} {{loop}}']],
    },
  ],
};

function quantileOf(quantile: number): string {
  return `histogram_quantile(${quantile}, sum by (le, route) (rate(${seconds}_bucket[5m])))`;
}
