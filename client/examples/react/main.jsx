import { Canvas } from "@react-three/fiber";
import { PliantRoom } from "pliant-client/react";
import { createRoot } from "react-dom/client";

const status = document.querySelector("p");
const query = new URLSearchParams(location.search);
const say = ({ state, error }) => (status.textContent = error ? `${state}: ${error.code}` : state);

createRoot(document.querySelector("#root")).render(
  <Canvas camera={{ position: [0, 0, 1.6], fov: 40 }}>
    <color attach="background" args={["#dfe7ea"]} />
    <PliantRoom
      lights
      url={query.get("room")}
      name={query.get("name") ?? undefined}
      scale={0.5}
      onState={say}
      onRefused={({ code }) => (status.textContent = code)}
    />
  </Canvas>,
);
