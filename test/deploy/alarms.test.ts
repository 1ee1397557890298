/** The alarms: documents, rules and dashboard have the same ones, made of metrics that exist. */
// tier: process
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { root } from '../../docs/generator/parts.ts';
import { type MetricName, metricCatalogue, metricEntry } from '../../src/metrics/catalogue.ts';
import { needs, pathOf } from '../support/programs/needs.ts';

const folder = join(root, 'deploy/prometheus');
const rules = read('deploy/prometheus/holdfast.rules.yml');
const ruleNames = all(rules, /- alert: (\w+)/g);

test('every alarm of the table has a rule, and every rule is in the table', () => {
  const [, table = ''] = /docs: alarms -->(.*)<!-- end of alarms/s.exec(read('docs/operations.md')) ?? [];
  assert.ok(ruleNames.length >= 20);
  assert.deepEqual(all(table, /^\| `(\w+)`/gm), ruleNames);
});

test('every rule has a severity, a summary, a description and a section of a document', () => {
  for (const rule of rules.split(/- alert: /).slice(1)) {
    assert.match(rule, /for: \d+[mh]\n\s+labels:\n\s+severity: (critical|warning|info)\n/);
    assert.match(
      rule,
      /summary: "[A-Z0-9].*\."\n\s+description: ".*\. Value: \{\{ \$value \| humanize \}\}\."/,
    );
    const [, file = '', section] = /runbook: (\S+)#(\S+)/.exec(rule) ?? [];
    const headings = all(read(file), /^#+ (.+)$/gm).map((words) =>
      words
        .toLowerCase()
        .replace(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    );
    assert.ok(headings.includes(section ?? ''), rule);
  }
});

test('every rule is raised in a case of promtool', () => {
  const raised = all(read('deploy/prometheus/holdfast.rules.test.yml'), /\{alertname="(\w+)"\}/g);
  assert.deepEqual(new Set(raised), new Set(ruleNames));
});

test('rules and dashboard name metrics, labels and label values that exist', () => {
  const ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  const processNames = new Set(ofProcess.getMetricsAsArray().map(({ name }) => name));
  const expressions = [...all(rules, /expr: '(.*)'$/gm), ...dashboardExpressions()];
  let seen = 0;
  for (const expr of expressions) {
    for (const [, sample = '', selectors = ''] of expr.matchAll(
      /\b((?:holdfast|process|nodejs)_\w+)(?:\{([^}]*)\})?/g,
    )) {
      seen += 1;
      if (processNames.has(sample)) continue;
      const labels = labelsOf(sample);
      assert.ok(labels, `${sample} in ${expr}`);
      for (const [, label = '', value = ''] of selectors.matchAll(/(\w+)[=!~]+"([^"]*)"/g)) {
        if (label === 'job') continue;
        assert.ok(label in labels, `${label} in ${expr}`);
        assert.ok(labels[label] === null || labels[label]?.includes(value), `${value} in ${expr}`);
      }
    }
  }
  assert.ok(seen >= 60, `${seen} metrics`);
});

needs('promtool').test(
  'promtool accepts rules, configuration and the expressions of the dashboard, and its cases pass',
  () => {
    const copy = mkdtempSync(join(tmpdir(), 'holdfast-alarms-'));
    try {
      cpSync(folder, copy, { recursive: true });
      writeFileSync(join(copy, 'holdfast-metrics-token'), 'token');
      writeFileSync(join(copy, 'dashboard.rules.yml'), asRules(dashboardExpressions()));
      for (const args of [
        ['check', 'config', 'prometheus.yml'],
        ['check', 'rules', 'holdfast.rules.yml', 'dashboard.rules.yml'],
        ['test', 'rules', 'holdfast.rules.test.yml'],
      ]) {
        const { status, stdout, stderr } = spawnSync(pathOf('promtool'), args, {
          cwd: copy,
          encoding: 'utf8',
        });
        assert.equal(status, 0, `promtool ${args.join(' ')}\n${stdout}${stderr}`);
      }
    } finally {
      rmSync(copy, { recursive: true });
    }
  },
);

/** Null if there is no such metric. A histogram is read by the samples that it has. */
function labelsOf(sample: string): Record<string, readonly string[] | null> | null {
  const ofHistogram = sample.replace(/_(bucket|sum|count)$/, '');
  const name = [sample, ofHistogram].find((one): one is MetricName => one in metricCatalogue);
  if (!name) return null;
  const { type, labels = {} } = metricEntry(name);
  return (type === 'histogram') === (name !== sample) ? labels : null;
}

function dashboardExpressions(): string[] {
  const { panels } = JSON.parse(read('deploy/grafana/holdfast.json')) as {
    panels: { targets?: { expr: string }[] }[];
  };
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}

/** So that promtool parses them. */
function asRules(expressions: string[]): string {
  const each = expressions.map((expr, index) => ({
    record: `panel:${index}`,
    expr: expr.replaceAll('$job', 'holdfast'),
  }));
  return JSON.stringify({ groups: [{ name: 'dashboard', rules: each }] });
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

function all(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found = '']) => found);
}
