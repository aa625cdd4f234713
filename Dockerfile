# Two stages: the first builds everything, the second contains only the files needed at run time.
# tests/ops/dockerfile.test.ts replays these steps in an empty folder without a Docker engine; it supports FROM,
# WORKDIR, COPY, RUN, ENV, USER, EXPOSE, HEALTHCHECK and CMD.

FROM node:26-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# Install scripts stay off: only the npm package `node` needs one, and this image has its own Node 26.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json vite.config.ts ./
COPY shared ./shared
COPY server ./server
COPY client ./client
COPY scenes ./scenes
RUN npm run build:kernel && npm run build:client
# Tetrahedralizes the scenes' meshes into build/cache, so that a new container is ready at once.
RUN for scene in scenes/[a-z]*.json; do [ "$scene" = scenes/schema.json ] || node server/tools/simulate.ts "$scene" --ticks 1 || exit 1; done
RUN npm prune --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:26-slim
# Inside of a container loopback is unreachable: publishing the port decides who reaches the operations page.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 PLIANT_OPERATIONS_HOST=0.0.0.0
WORKDIR /app
COPY --from=build /app/package.json ./package.json
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/build ./build
COPY --from=build /app/shared ./shared
COPY --from=build /app/server ./server
COPY --from=build /app/scenes ./scenes
# A volume mounted here inherits this mode, which lets every user write: PLIANT_STORE=sqlite stores its file here.
RUN mkdir -m 0777 data
USER node
EXPOSE 8080 9080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=16", "server/main.ts"]
