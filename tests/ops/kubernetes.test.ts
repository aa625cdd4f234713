/**
 * The manifests match Kubernetes' own schemas (npm kubernetes-models, generated from its OpenAPI description), the
 * server, the image and each other. No cluster is used.
 */
import { readFileSync, readdirSync } from "node:fs";
import { HorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2";
import { Deployment } from "kubernetes-models/apps/v1";
import { Ingress, NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { ConfigMap, Service } from "kubernetes-models/v1";
import { parse, parseAllDocuments } from "yaml";
import { expect, test } from "vitest";
import { readConfig } from "../../server/config.ts";
import { LONGEST_WAIT_MS } from "../../server/rooms/prewarm.ts";
import { parseDockerfile } from "./dockerfile.ts";

const folder = "server/ops/kubernetes";
const models = { Deployment, HorizontalPodAutoscaler, PodDisruptionBudget, ConfigMap, Service, NetworkPolicy, Ingress };
const documents = readdirSync(folder).flatMap((name) =>
  parseAllDocuments(readFileSync(`${folder}/${name}`, "utf8")).map((document) => document.toJS() as any),
);
const one = (kind: string, name = "pliant"): any =>
  documents.find((document) => document.kind === kind && document.metadata.name === name);
const pod = one("Deployment").spec.template;
const [container] = pod.spec.containers;
const portOf = (name: string): number =>
  container.ports.find((port: { name: string }) => port.name === name)?.containerPort;

test("every document matches the schema of its kind, in the model's version", () => {
  expect(documents.map(({ kind }) => kind).sort()).toEqual([
    "ConfigMap",
    "Deployment",
    "HorizontalPodAutoscaler",
    "Ingress",
    "NetworkPolicy",
    "PodDisruptionBudget",
    "Service",
  ]);
  for (const document of documents) {
    const Model = models[document.kind as keyof typeof models] as unknown as {
      new (data: object): { validate(): void };
      apiVersion: string;
    };
    expect(document.apiVersion).toBe(Model.apiVersion);
    expect(() => new Model(document).validate()).not.toThrow();
  }
});

test("the schemas find errors", () => {
  const broken = structuredClone(one("Deployment"));
  broken.spec.template.spec.containers[0].ports[0].containerPort = "8080";
  expect(() => new Deployment(broken).validate()).toThrow(/containerPort/);
  expect(() =>
    new HorizontalPodAutoscaler({ ...one("HorizontalPodAutoscaler"), spec: {} } as never).validate(),
  ).toThrow(/required/);
});

test("selectors match the pods, the budget and the autoscaler refer to the deployment, the service's port is the server's", () => {
  const { labels } = pod.metadata;
  for (const chosen of [
    one("Deployment").spec.selector.matchLabels,
    one("Service").spec.selector,
    one("PodDisruptionBudget").spec.selector.matchLabels,
  ])
    expect(labels).toMatchObject(chosen);
  const { scaleTargetRef, minReplicas } = one("HorizontalPodAutoscaler").spec;
  expect(scaleTargetRef).toEqual({ apiVersion: "apps/v1", kind: "Deployment", name: "pliant" });
  expect(minReplicas).toBeGreaterThan(one("PodDisruptionBudget").spec.maxUnavailable);
  const port = container.ports.find(({ name }: { name: string }) => name === one("Service").spec.ports[0].targetPort);
  expect(port.containerPort).toBe(readConfig({}).port);
  expect(pod.metadata.annotations).toMatchObject({
    "prometheus.io/path": "/metrics",
    "prometheus.io/port": String(portOf("operations")),
  });
  for (const probe of [container.startupProbe, container.readinessProbe, container.livenessProbe])
    expect(probe.httpGet.port).toBe(port.name);
  expect([
    container.readinessProbe.httpGet.path,
    container.livenessProbe.httpGet.path,
    container.startupProbe.httpGet.path,
  ]).toEqual(["/readyz", "/healthz", "/readyz"]);
});

test("a pod has two minutes to become ready before it is started again, also if it answers the first requests slowly", () => {
  // With all scenes, the default, no build is part of it (tests/server/rooms/prewarm.test.ts). The rest is for a busy
  // node, for a list in PLIANT_PREWARM, and for a database that fails over.
  const { periodSeconds, failureThreshold, timeoutSeconds = 1 } = container.startupProbe;
  expect(periodSeconds * failureThreshold).toBeGreaterThanOrEqual(120 + LONGEST_WAIT_MS / 1000);
  expect(timeoutSeconds).toBeGreaterThanOrEqual(5);
  expect(container.env.map(({ name }: { name: string }) => name)).not.toContain("PLIANT_PREWARM");
});

test("visitors reach the visitors' port only: the service and the ingress have no other, Prometheus has its own way", () => {
  expect(portOf("operations")).toBe(readConfig({}).operationsPort);
  expect(one("Service").spec.ports.map(({ targetPort }: { targetPort: string }) => targetPort)).toEqual(["http"]);
  const { rules } = one("Ingress").spec;
  for (const { http } of rules)
    for (const { backend } of http.paths) expect(backend.service).toEqual({ name: "pliant", port: { name: "http" } });
  const { podSelector, policyTypes, ingress } = one("NetworkPolicy").spec;
  expect(pod.metadata.labels).toMatchObject(podSelector.matchLabels);
  expect(policyTypes).toEqual(["Ingress", "Egress"]);
  const from = Object.fromEntries(
    ingress.map(({ ports: [{ port }], from }: any) => [
      port,
      from.map(
        ({ namespaceSelector, podSelector: pods }: any) => Object.values((namespaceSelector ?? pods).matchLabels)[0],
      ),
    ]),
  );
  expect(from).toEqual({ http: ["ingress-nginx", "pliant"], operations: ["monitoring"] });
});

test("the server accepts the environment of the pod", () => {
  const secrets: Record<string, string> = {
    "admin-token": "0123456789abcdef01234567",
    store: "postgres://pliant:hush@db:5432/pliant",
    "token-secret": "0123456789abcdef0123456789abcdef",
  };
  const env: Record<string, string> = {};
  for (const { name, value, valueFrom } of container.env) {
    env[name] =
      value?.replace(/\$\((\w+)\)/g, (_: string, other: string) => env[other]) ??
      (valueFrom.fieldRef ? "192.0.2.7" : secrets[valueFrom.secretKeyRef.key]);
    expect(env[name], name).toBeDefined();
  }
  expect(readConfig(env)).toMatchObject({
    advertiseUrl: "http://192.0.2.7:8080",
    store: secrets.store,
    tokenSecrets: [secrets["token-secret"]],
    trustProxy: 1,
    operationsPort: portOf("operations"),
    operationsHost: "0.0.0.0",
  });
});

test("there is time to hand rooms over, and the user is that of the image", () => {
  const grace = pod.spec.terminationGracePeriodSeconds;
  const wait = Number(container.lifecycle.preStop.exec.command[1]);
  const env = Object.fromEntries(
    container.env.flatMap(({ name, value }: { name: string; value?: string }) => (value ? [[name, value]] : [])),
  );
  const { shutdownSeconds } = readConfig({ PLIANT_SHUTDOWN_SECONDS: env.PLIANT_SHUTDOWN_SECONDS });
  expect(shutdownSeconds).toBe(Number(env.PLIANT_SHUTDOWN_SECONDS));
  expect(grace).toBeGreaterThan(wait + shutdownSeconds);
  // Every node has noticed the end of readiness before SIGTERM: the readiness probe runs more often than that.
  expect(wait).toBeGreaterThan(container.readinessProbe.periodSeconds * container.readinessProbe.failureThreshold);
  expect(parseDockerfile(readFileSync("Dockerfile", "utf8")).at(-1)?.user).toBe("node");
  expect(container.image).toBe((parse(readFileSync("docker-compose.yml", "utf8")) as any).services.pliant.image);
});

test("pods may be evicted one at a time, because they hand their rooms over; pods that are not ready do not block eviction", () => {
  expect(pod.metadata.annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"]).toBe("true");
  expect(one("PodDisruptionBudget").spec).toMatchObject({
    maxUnavailable: 1,
    unhealthyPodEvictionPolicy: "AlwaysAllow",
  });
  // A new server starts before an old one ends.
  expect(one("Deployment").spec.strategy.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
  // Scaling down removes one server, and waits until its rooms have settled elsewhere.
  const { policies } = one("HorizontalPodAutoscaler").spec.behavior.scaleDown;
  expect(policies).toEqual([{ type: "Pods", value: 1, periodSeconds: 300 }]);
  expect(policies[0].periodSeconds).toBeGreaterThan(pod.spec.terminationGracePeriodSeconds);
});

test("the adapter's rule makes the autoscaler's metric from counters of the server", () => {
  const { name } = one("HorizontalPodAutoscaler").spec.metrics[0].pods.metric;
  const [rule] = parse(one("ConfigMap", "pliant-adapter-rules").data["config.yaml"]).rules;
  expect(rule.name.as).toBe(name);
  const page = readFileSync("server/ops/METRICS.md", "utf8");
  const used = [rule.seriesQuery, rule.metricsQuery].flatMap((query: string) => query.match(/pliant_\w+/g) ?? []);
  expect(used.length).toBe(3);
  for (const metric of used) expect(page).toContain(`| \`${metric}\` |`);
});
