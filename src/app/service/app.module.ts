// AppModule: the straight line ApiModule → GatewayModule → InfraModule.
import { Module, type DynamicModule } from '@nestjs/common';
import { ApiModule, type ApiOptions } from '../../api/api.module.ts';

@Module({})
export class AppModule {
  static register(options: ApiOptions): DynamicModule {
    return { module: AppModule, imports: [ApiModule.register(options)] };
  }
}
