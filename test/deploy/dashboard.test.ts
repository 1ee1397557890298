/** The dashboard has the structure that Grafana expects, and a panel for each alarm. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { alarms } from '../../docs/generator/alarms/catalogue.ts';
import { root } from '../../docs/generator/parts.ts';

interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  datasource?: { type: string; uid: string };
  targets?: { refId: string; expr: string; legendFormat: string; datasource: { uid: string } }[];
  fieldConfig?: { defaults: { thresholds?: { steps: { value: number | null; color: string }[] } } };
  gridPos: { x: number; y: number; w: number; h: number };
}

interface Dashboard {
  uid: string;
  title: string;
  schemaVersion: number;
  templating: { list: { name: string; type: string; query: unknown }[] };
  panels: Panel[];
}

const dashboard = JSON.parse(readFileSync(join(root, 'deploy/grafana/holdfast.json'), 'utf8')) as Dashboard;
const { panels } = dashboard;
const chosen = '$' + '{datasource}';

test('is one for Grafana 10, with a variable for the data source', () => {
  assert.equal(dashboard.schemaVersion, 39);
  assert.equal(dashboard.title, 'Holdfast');
  const [first] = dashboard.templating.list;
  assert.deepEqual([first?.name, first?.type, first?.query], ['datasource', 'datasource', 'prometheus']);
});

test('every panel has a title, and every one but rows asks the chosen data source for something', () => {
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  for (const { type, title, datasource, targets = [] } of panels) {
    assert.match(title, /\S/);
    if (type === 'row') continue;
    assert.deepEqual(datasource, { type: 'prometheus', uid: chosen }, title);
    assert.ok(targets.length > 0, title);
    assert.equal(new Set(targets.map(({ refId }) => refId)).size, targets.length, title);
    for (const target of targets) {
      assert.equal(target.datasource.uid, chosen);
      assert.match(target.expr, /\S/);
      assert.match(target.legendFormat, /\S/);
    }
  }
});

test('every expression reads the chosen job only', () => {
  for (const { expr } of panels.flatMap(({ targets = [] }) => targets)) {
    for (const [found, labels = ''] of expr.matchAll(
      /\b(?:(?:holdfast|process|nodejs)_\w+|up)\b(?:\{([^}]*)\})?/g,
    ))
      assert.match(labels, /^job="\$job"/, `${found} in ${expr}`);
  }
});

test('panels are inside the grid and do not overlap', () => {
  const taken = new Map<string, string>();
  for (const { title, gridPos } of panels) {
    const { x, y, w, h } = gridPos;
    assert.ok(x >= 0 && w > 0 && h > 0 && x + w <= 24, title);
    for (let column = x; column < x + w; column += 1) {
      for (let line = y; line < y + h; line += 1) {
        const cell = `${column}/${line}`;
        assert.equal(taken.get(cell), undefined, `${title} at ${cell}`);
        taken.set(cell, title);
      }
    }
  }
});

test('every alarm has a panel that draws its limit, in the row of its topic', () => {
  let row = '';
  const found: string[] = [];
  for (const { type, title, description = '', fieldConfig } of panels) {
    if (type === 'row') row = title;
    const alarm = alarms.find(({ name }) => description.startsWith(`${name}: `));
    if (!alarm) continue;
    assert.equal(row, alarm.topic, title);
    const { steps = [] } = fieldConfig?.defaults.thresholds ?? {};
    assert.ok(steps.some(({ color }) => color === 'red') && steps.length > 1, title);
    found.push(alarm.name);
  }
  assert.deepEqual(found.sort(), alarms.map(({ name }) => name).sort());
});
