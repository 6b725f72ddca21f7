"""What do the tests of telemetry listen with? The real SDK with exporters in memory, set as a program would set it."""

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from brain.engine.telemetry import CONTENT_VARIABLE


class Heard:
    """What was told since the fixture was made."""

    def __init__(self, exporter, reader):
        self._exporter, self._reader = exporter, reader

    def spans(self, name=None):
        return [span for span in self._exporter.get_finished_spans() if name in (None, span.name)]

    def points(self, name):
        """The points of one metric, as (attributes, point)."""
        data = self._reader.get_metrics_data()
        found = data.resource_metrics[0].scope_metrics if data else []
        return [
            (dict(point.attributes), point)
            for scope in found
            for metric in scope.metrics
            if metric.name == name
            for point in metric.data.data_points
        ]


@pytest.fixture
def heard(monkeypatch):
    """A program that has set up traces and metrics. A process may set them once; a test must give them back."""
    monkeypatch.delenv(CONTENT_VARIABLE, raising=False)
    exporter, reader = InMemorySpanExporter(), InMemoryMetricReader()
    tracing, measuring = TracerProvider(), MeterProvider([reader])
    tracing.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", tracing)
    monkeypatch.setattr(metrics._internal, "_METER_PROVIDER", measuring)
    yield Heard(exporter, reader)
    tracing.shutdown()
    measuring.shutdown()
